// Package enginetest is a kit for testing jobs without waiting: the engine's
// own pump and shell over a memory store, in a time that only moves when the
// test says so. Retries, snoozes, timeouts and dead letters are those of
// production. Handlers run one at a time, in the order in which their jobs are
// due.
package enginetest

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"

	"backwave/clockx"
	"backwave/engine"
	"backwave/store"
	"backwave/store/memory"
)

// Config describes a Kit. A zero field means the default at the end of its
// comment.
type Config struct {
	Mux   *engine.Mux  // required: the handlers under test
	Group engine.Group // how they are run; Pumps and PoolSize count as 1; default a group "test" on the queue "default"
	Start time.Time    // when the test begins; default 2000-01-01 00:00 UTC
}

// Kit runs jobs in virtual time. It is for one goroutine, that of the test or
// of the handler which runs at the moment; clients may be used by any.
type Kit struct {
	tb     testing.TB
	store  *memory.Locked
	clock  *clockx.Mock
	world  *world
	shell  *engine.Shell
	client *engine.Client
	runs   []Run
}

// Run is one attempt that a Kit has run.
type Run struct {
	ID      store.JobID
	Name    string
	Queue   string
	Attempt int
	End     store.EndKind // how it ended; 0 if its outcome was not recorded
	State   store.State   // of the job after it
	Error   string        // what a failure left in the store
}

// maxRuns bounds RunDue: jobs that enqueue each other may never come to an end.
const maxRuns = 100_000

// New returns a Kit with an empty store. A mistake in cfg fails the test.
func New(tb testing.TB, cfg Config) *Kit {
	tb.Helper()
	g := cfg.Group
	if g.Name == "" {
		g.Name = "test"
	}
	if len(g.Queues.Queues()) == 0 {
		g.Queues = engine.Strict("default")
	}
	g.Pumps, g.PoolSize = 1, 1
	pumpConfig, err := g.PumpConfig(0)
	if err != nil {
		tb.Fatalf("enginetest: group: %v", err)
	}
	runner, err := engine.NewRunner(cfg.Mux)
	if err != nil {
		tb.Fatalf("enginetest: %v", err)
	}
	if cfg.Start.IsZero() {
		cfg.Start = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	k := &Kit{tb: tb, clock: clockx.NewMock()}
	k.clock.Set(cfg.Start)
	k.world = newWorld(k, runner, pumpConfig.LeaseDuration, cfg.Start)
	k.store = memory.NewLocked(memory.New(storeClock{k.world}))
	k.client = engine.NewClient(engine.ClientConfig{Store: k.store, Queue: g.Queues.Queues()[0], Clock: k.clock, Random: new(counter)})
	k.shell = engine.NewShell(pumpConfig, "enginetest", k.world)
	k.shell.Begin()
	k.world.settle()
	return k
}

// Client returns a client of the kit's store; jobs go to the group's first
// queue unless they say otherwise. The ids it makes are the same in every run
// of a test.
func (k *Kit) Client() *engine.Client { return k.client }

// Store returns the store, for all that a Client cannot do.
func (k *Kit) Store() store.Store { return k.store }

// Now returns the virtual time.
func (k *Kit) Now() time.Time { return k.clock.Now() }

// RunDue runs every job that is due now, those included that become due by it,
// and returns what ran, in order.
func (k *Kit) RunDue() []Run {
	k.tb.Helper()
	first := len(k.runs)
	for n := -1; n != len(k.runs); {
		n = len(k.runs)
		k.shell.Hinted()
		k.world.settle()
		if len(k.runs)-first > maxRuns {
			k.tb.Fatalf("enginetest: %d attempts ran and more are due", maxRuns)
		}
	}
	out := k.runs[first:]
	for i := range out {
		k.fill(&out[i])
	}
	return slices.Clone(out)
}

// fill adds what the store recorded of an attempt.
func (k *Kit) fill(r *Run) {
	j := k.Job(r.ID)
	r.State = j.State
	for _, e := range j.Ends {
		if e.Attempt == r.Attempt {
			r.End, r.State, r.Error = e.Kind, e.To, e.Error
		}
	}
}

// Advance moves time forward by d without running anything; RunDue then finds
// due what became due on the way.
func (k *Kit) Advance(d time.Duration) {
	if d < 0 {
		k.tb.Fatalf("enginetest: time cannot move by %v", d)
	}
	k.world.now = k.world.now.Add(d)
	k.clock.Set(k.world.time())
}

// Take lets virtual time pass within a handler that the kit runs, as its work
// would: leases are renewed, and its context ends if it runs into its timeout.
// It returns after d, or at once when ctx ends, with the cause. It must be
// called by the handler's own goroutine. engine.Sleep does the same in a kit.
func Take(ctx context.Context, d time.Duration) error {
	w, ok := ctx.Value(worldKey{}).(*world)
	if !ok {
		panic("enginetest: Take was called with a context that is not of a handler run by a Kit")
	}
	w.pass(ctx, d)
	return context.Cause(ctx)
}

// Job returns a job as the store has it. An unknown id fails the test.
func (k *Kit) Job(id store.JobID) *store.Job {
	k.tb.Helper()
	j, err := k.store.Job(context.Background(), id)
	if err != nil {
		k.tb.Fatalf("enginetest: job %v: %v", id, err)
	}
	return j
}

// Enqueued returns the payloads of all jobs of a name that were enqueued into
// the queue so far, in that order, whatever became of the jobs. Payloads are
// decoded as Handle does by default; one that cannot be fails the test.
func Enqueued[T any](k *Kit, queue, name string) []T {
	k.tb.Helper()
	jobs, err := k.store.Jobs(context.Background(), queue, nil, math.MaxInt)
	if err != nil {
		k.tb.Fatalf("enginetest: jobs of queue %q: %v", queue, err)
	}
	var out []T
	for _, j := range jobs {
		if j.Name != name {
			continue
		}
		var v T
		if len(j.Payload) > 0 {
			if err := json.Unmarshal(j.Payload, &v); err != nil {
				k.tb.Fatalf("enginetest: payload of job %v: %v", j.ID, err)
			}
		}
		out = append(out, v)
	}
	return out
}

// counter is a source of job ids that differ within a test and are the same in
// every run of it.
type counter uint64

func (c *counter) Read(p []byte) (int, error) {
	*c++
	for i, v := len(p)-1, uint64(*c); i >= 0; i, v = i-1, v>>8 {
		p[i] = byte(v)
	}
	return len(p), nil
}
