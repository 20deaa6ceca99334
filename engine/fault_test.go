package engine_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"backwave/engine"
	"backwave/store"
)

func TestTransientFaultsAreOneEpisode(t *testing.T) {
	inBubble(t, func(w *world) {
		engine.Handle(w.mux, "job", func(context.Context, *engine.Job[email]) error { time.Sleep(25 * time.Second); return nil })
		e := w.start(w.store)
		id := w.enqueue("job", nil)
		time.Sleep(10 * time.Second)
		w.store.set(func(context.Context, string) error {
			return &store.TransientError{Fault: store.FaultConnection, Err: errors.New("refused")}
		}, nil)
		time.Sleep(30 * time.Second) // claims, sweeps, renewals and the report fail
		got := e.Health().DegradedGroups()["main"]
		for _, verb := range []string{"claim", "sweep", "report", "renew"} {
			if !strings.Contains(got, verb+": connection: refused") {
				t.Errorf("degraded: %q, want %s in it", got, verb)
			}
		}
		if !e.Health().Healthy() {
			t.Error("degraded groups still run")
		}
		w.store.set(nil, nil)
		time.Sleep(10 * time.Second)
		w.wantEnds(id, store.Succeeded, store.EndSuccess) // kept, and sent again
		if d := e.Health().DegradedGroups(); len(d) != 0 {
			t.Errorf("still degraded: %v", d)
		}
		if got := w.logs.at(4); len(got) != 1 || !strings.Contains(got[0], "degraded") || !strings.Contains(got[0], "group=main") {
			t.Errorf("warnings: %q, want one", got)
		}
		if got := w.logs.at(0); len(got) != 1 || !strings.Contains(got[0], "recovered") {
			t.Errorf("entries at INFO: %q, want one", got)
		}
		w.stopClean(e)
	})
}

// One kind of call that is well again does not end the episode of another.
func TestAnEpisodeEndsWithItsLastMark(t *testing.T) {
	inBubble(t, func(w *world) {
		w.store.set(transient, nil)
		e := w.start(w.store)
		time.Sleep(10 * time.Second) // claims and sweeps fail
		w.store.set(only("sweep", func(ctx context.Context) error { return transient(ctx, "") }), nil)
		time.Sleep(10 * time.Second)
		if got := w.logs.at(slog.LevelInfo); len(got) != 0 {
			t.Errorf("entries at INFO while sweeps fail: %q", got)
		}
		w.store.set(nil, nil)
		time.Sleep(10 * time.Second)
		if got := w.logs.at(slog.LevelInfo); len(got) != 1 || !strings.Contains(got[0], "recovered call=sweep") {
			t.Errorf("entries at INFO: %q, want one", got)
		}
		w.stopClean(e)
	})
}

// sly is an error that panics the second time it is looked into.
type sly struct{ seen *int }

func (sly) Error() string { return "sly" }
func (s sly) As(any) bool {
	if *s.seen++; *s.seen > 1 {
		panic("sly")
	}
	return false
}

func TestAnOutcomeThatPanicsHaltsItsGroupOnly(t *testing.T) {
	inBubble(t, func(w *world) {
		engine.Handle(w.mux, "sly", func(context.Context, *engine.Job[email]) error { return sly{new(int)} })
		engine.Handle(w.mux, "good", func(context.Context, *engine.Job[email]) error { return nil })
		w.enqueue("sly", nil, engine.Queue("a"))
		e := w.start(w.store, engine.Group{Name: "bad", Queues: engine.Strict("a")}, engine.Group{Name: "good", Queues: engine.Strict("b")})
		time.Sleep(time.Second)
		if got, want := e.Health().String(), "Worker Group fail-stop: bad (string: panic: sly)"; got != want {
			t.Errorf("health: %v, want %v", got, want)
		}
		good := w.enqueue("good", nil, engine.Queue("b"))
		time.Sleep(time.Second)
		w.wantEnds(good, store.Succeeded, store.EndSuccess)
		w.stopClean(e)
	})
}

// pqError is an error of a driver.
type pqError struct{}

func (*pqError) Error() string { return "relation \"job\" does not exist" }

func TestAFatalFaultHaltsItsGroupOnly(t *testing.T) {
	for _, c := range []struct {
		name   string
		fault  func(context.Context) error
		health string
	}{
		{"unknown error", func(context.Context) error { return &pqError{} }, `Worker Group fail-stop: bad (*engine_test.pqError: relation "job" does not exist)`},
		{"panic", func(context.Context) error { panic("adapter") }, "Worker Group fail-stop: bad (*engine.StorePanicError: the store panicked: adapter)"},
		{"panic with an error", func(context.Context) error { panic(&pqError{}) }, `Worker Group fail-stop: bad (*engine_test.pqError: the store panicked: relation "job" does not exist)`},
		{"neither a reply nor an error", func(context.Context) error { return errMute }, "Worker Group fail-stop: bad (*errors.errorString: engine: the store gave neither a reply nor an error)"},
		{"error that cannot be looked into", func(context.Context) error {
			return &store.TransientError{Fault: store.FaultBusy, Err: bomb{}}
		}, "Worker Group fail-stop: bad (string: panic: bomb)"},
		{"panic that cannot be looked into", func(context.Context) error { panic(bomb{}) }, "Worker Group fail-stop: bad (string: panic: bomb)"},
		{"Goexit", func(context.Context) error { runtime.Goexit(); return nil }, "Worker Group fail-stop: bad (*errors.errorString: engine: the store left its goroutine (runtime.Goexit))"},
	} {
		t.Run(c.name, func(t *testing.T) { inBubble(t, func(w *world) { haltOne(w, c.fault, c.health) }) })
	}
}

// bomb is an error that panics when it is unwrapped.
type bomb struct{}

func (bomb) Error() string { return "bomb" }
func (bomb) Unwrap() error { panic("bomb") }

func haltOne(w *world, fault func(context.Context) error, health string) {
	told := make(chan error, 1)
	engine.Handle(w.mux, "long", func(ctx context.Context, _ *engine.Job[email]) error {
		<-ctx.Done()
		told <- context.Cause(ctx)
		return nil
	})
	engine.Handle(w.mux, "short", func(context.Context, *engine.Job[email]) error { return nil })
	long := w.enqueue("long", nil, engine.Queue("a"))
	w.store.set(only("renew", fault), nil) // only the group with a long handler renews
	e := w.start(w.store, engine.Group{Name: "bad", Queues: engine.Strict("a")}, engine.Group{Name: "good", Queues: engine.Strict("b")})
	time.Sleep(21 * time.Second)
	select {
	case err := <-told:
		if !errors.Is(err, engine.ErrHalted) {
			w.t.Errorf("the handler was told %v", err)
		}
	case <-time.After(time.Second):
		w.t.Error("the handler was told nothing")
	}
	h := e.Health()
	if h.Healthy() || h.String() != health {
		w.t.Errorf("health: %v, want %v", h, health)
	}
	rec := httptest.NewRecorder()
	engine.HealthHandler(e.Health).ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/health", nil))
	if rec.Code != http.StatusServiceUnavailable || rec.Body.String() != health {
		w.t.Errorf("HTTP %d %q", rec.Code, rec.Body)
	}
	rec = httptest.NewRecorder()
	engine.HealthHandler(e.Health).ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/health?format=json", nil))
	if rec.Code != http.StatusServiceUnavailable || !strings.HasPrefix(rec.Body.String(), `{"healthy":false,`) {
		w.t.Errorf("as JSON: HTTP %d %q", rec.Code, rec.Body)
	}
	critical := w.logs.at(engine.LevelCritical)
	if len(critical) != 1 || !strings.Contains(critical[0], "group=bad") || !strings.Contains(critical[0], "cause=") {
		w.t.Errorf("entries at CRITICAL: %q, want one", critical)
	}
	if strings.Contains(health, "panicked") && !strings.Contains(critical[0], "stack=goroutine") {
		w.t.Error("no stack was logged")
	}
	short := w.enqueue("short", nil, engine.Queue("b"))
	time.Sleep(2 * time.Second)
	w.wantEnds(short, store.Succeeded, store.EndSuccess)
	w.stopClean(e)
	if j := w.job(long); j.State != store.Executing || len(j.Ends) != 0 {
		w.t.Errorf("the job of the halted group is %v after %v, want it left to lapse", j.State, ends(j))
	}
}

func TestPartialHalt(t *testing.T) {
	inBubble(t, func(w *world) {
		engine.Handle(w.mux, "job", func(ctx context.Context, _ *engine.Job[email]) error { <-ctx.Done(); return nil })
		w.enqueue("job", nil)
		w.store.set(only("renew", func(context.Context) error { return &pqError{} }), nil)
		e := w.start(w.store, engine.Group{Name: "main", Queues: engine.Strict("default"), Pumps: 2})
		time.Sleep(21 * time.Second)
		h := e.Health()
		if got := h.PartiallyHaltedGroups()["main"].ErrorType; !h.Healthy() || got != "*engine_test.pqError" {
			t.Errorf("healthy %v, partially halted %v", h.Healthy(), h.PartiallyHaltedGroups())
		}
		rec := httptest.NewRecorder()
		engine.HealthHandler(e.Health).ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/health?format=json", nil))
		want := `{"healthy":true,"halted":{},"partially_halted":{"main":{"error_type":"*engine_test.pqError","message":"relation \"job\" does not exist"}},"degraded":{}}`
		if rec.Code != http.StatusOK || rec.Body.String() != want {
			t.Errorf("HTTP %d %s", rec.Code, rec.Body)
		}
		w.stopClean(e)
	})
}

func TestHealthIsForReading(t *testing.T) {
	h := engine.HealthHandler(func() engine.Health { return engine.Health{} })
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/health", nil))
	if rec.Code != http.StatusMethodNotAllowed || rec.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST gave %d, Allow %q", rec.Code, rec.Header().Get("Allow"))
	}
	rec = httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest(http.MethodHead, "/health", nil))
	if rec.Code != http.StatusOK || rec.Body.Len() != 0 {
		t.Errorf("HEAD gave %d %q", rec.Code, rec.Body)
	}
}

// A halted group's handlers that do not listen are waited for and then named,
// whatever its FinishTimeout.
func TestAHaltedGroupIsDrainedWithoutFinishing(t *testing.T) {
	inBubble(t, func(w *world) {
		release := make(chan struct{})
		engine.Handle(w.mux, "job", func(context.Context, *engine.Job[email]) error { <-release; return nil })
		w.enqueue("job", nil)
		w.store.set(only("renew", func(context.Context) error { return &pqError{} }), nil)
		e := w.start(w.store, engine.Group{Name: "main", Queues: engine.Strict("default"), FinishTimeout: time.Hour})
		time.Sleep(10 * time.Second)
		began := time.Now() // it halts ten seconds into the drain
		var left *engine.AbandonedError
		if err := e.stop(); !errors.As(err, &left) {
			t.Errorf("Run returned %v", err)
		}
		if d := time.Since(began); d != 40*time.Second {
			t.Errorf("it returned after %v, want the ShutdownTimeout after the halt", d)
		}
		close(release)
	})
}

// A logger that panics takes nothing down.
func TestALoggerThatPanics(t *testing.T) {
	inBubble(t, func(w *world) {
		engine.Handle(w.mux, "job", func(context.Context, *engine.Job[email]) error { return nil })
		w.store.set(only("sweep", func(context.Context) error {
			return &store.TransientError{Fault: store.FaultBusy, Err: errors.New("busy")}
		}), nil)
		w.logs = nil // every entry is a nil dereference
		e := w.start(w.store)
		time.Sleep(10 * time.Second)
		id := w.enqueue("job", nil)
		time.Sleep(time.Second)
		w.wantEnds(id, store.Succeeded, store.EndSuccess)
		w.stopClean(e)
	})
}
