//go:build unix

package healthtest

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"backwave/engine"
	"backwave/internal/pgtest"
	"backwave/store"
	"backwave/store/postgres"
)

// outage is an engine that works while its server is away: short jobs that come
// all the time, and long ones that run from before until after.
type outage struct {
	*running
	server  *pgtest.Own
	store   *postgres.Store
	calls   *watched
	started runs
	release chan struct{}
	load    *load
	long    []store.JobID
}

// Leases outlive the outage by far, and renewals fall into it.
var patient = engine.Group{
	Name: "g", Queues: engine.Strict("q"), PoolSize: 8, LeaseDuration: time.Minute,
	HeartbeatInterval: 100 * time.Millisecond, PollInterval: 20 * time.Millisecond, MaintenanceInterval: 100 * time.Millisecond, OperationTimeout: time.Second,
}

func begin(t *testing.T) *outage {
	o := &outage{server: pgtest.NewOwn(t), release: make(chan struct{})}
	o.store = open(t, o.server.URL(), "backwave")
	o.calls = &watched{Leaser: o.store}
	mux := engine.NewMux()
	mux.HandleRaw("long", func(ctx context.Context, job *engine.RawJob) error {
		o.started.add(job.ID)
		select {
		case <-o.release:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	mux.HandleRaw("short", func(_ context.Context, job *engine.RawJob) error {
		o.started.add(job.ID)
		return nil
	})
	for range 4 {
		o.long = append(o.long, add(t, o.store, "long", "q"))
	}
	o.running = run(t, o.calls, mux, patient)
	eventually(t, "the long jobs run", func() bool { return o.started.len() == len(o.long) })
	o.load = start(t, o.store, "short")
	o.flow("short jobs run")
	return o
}

// flow waits until many more jobs have run.
func (o *outage) flow(what string) {
	o.t.Helper()
	before := o.started.len()
	eventually(o.t, what, func() bool { return o.started.len() >= before+200 })
}

// finish lets everything end and judges it: the server is back.
func (o *outage) finish() {
	t := o.t
	t.Helper()
	eventually(t, "recovered", func() bool { return !o.degraded() })
	o.flow("short jobs run again")
	close(o.release)
	ids := append(o.load.stop(), o.long...)
	idle(t, o.store)
	o.wantHealth(http.StatusOK, fine)
	o.stopClean()
	for _, id := range ids {
		j := job(t, o.store, id)
		if j.State != store.Succeeded || j.Attempt != 1 || o.started.count(id) != 1 {
			t.Errorf("job %v is %v in attempt %d after %d runs, with %v", id, j.State, j.Attempt, o.started.count(id), j.Ends)
		}
	}
	warned, recovered := len(o.log.of(slog.LevelWarn, "msg=degraded")), len(o.log.of(slog.LevelInfo, "msg=recovered"))
	if warned == 0 || warned != recovered {
		t.Errorf("%d warnings of an outage and %d ends of one", warned, recovered)
	}
	t.Logf("%d jobs, %d episodes", len(ids), warned)
}

func TestServerRestartsUnderLoad(t *testing.T) {
	for name, fast := range map[string]bool{"fast": true, "immediate": false} {
		t.Run(name, func(t *testing.T) {
			o := begin(t)
			o.server.Stop(fast)
			eventually(t, "degraded", o.degraded)
			o.wantHealth(http.StatusOK, fine) // degraded is not dead: nobody must restart the process
			o.server.Start()
			o.finish()
		})
	}
}

func TestHealthAnswersWhileTheDatabaseHangs(t *testing.T) {
	o := begin(t)
	o.server.Freeze()
	during := func(query string) (code int, body string) { // a call hung from before the question until after the answer
		eventually(t, "an answer while a call hangs", func() bool {
			before, hung := o.calls.answered.Load(), o.calls.pending()
			code, body = o.health(query)
			return hung && o.calls.answered.Load() == before
		})
		return code, body
	}
	if code, body := during(""); code != http.StatusOK || body != fine {
		t.Errorf("health is %d %q", code, body)
	}
	eventually(t, "degraded", o.degraded)
	if code, body := during("?format=json"); code != http.StatusOK || !strings.Contains(body, `"degraded":{"g":`) {
		t.Errorf("health is %d %s", code, body)
	}
	o.server.Thaw()
	o.finish()
}
