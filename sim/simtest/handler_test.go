package simtest

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"backwave/engine"
	"backwave/sim"
	"backwave/store"
)

func TestAHandlerSleepsAndCalls(t *testing.T) {
	r := newRig(t, func(ctx context.Context, r *rig, job *engine.Job[string]) error {
		began := engine.Now(ctx)
		if err := engine.Sleep(ctx, time.Hour); err != nil {
			return err
		}
		r.say("%s#%d slept %v", job.Args, job.Attempt, engine.Now(ctx).Sub(began))
		if err := job.SetProgress([]byte("half")); err != nil {
			return err
		}
		if err := engine.Sleep(ctx, time.Minute); err != nil {
			return err
		}
		if err := job.SetOutput([]byte("out")); err != nil {
			return err
		}
		return r.ask(ctx, "x")
	})
	r.sc.For = 2 * time.Hour
	r.holds().want("success", "args#1 slept 1h0m0s", "1h1m0s is asked for /x")
	if string(r.row().Output) != "out" || string(r.row().Progress) != "half" {
		t.Errorf("output %q, progress %q", r.row().Output, r.row().Progress)
	}
}

func TestHowHandlersEnd(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range []struct {
		name string
		ends string
		how  func() error
	}{
		{"nil", "success", func() error { return nil }},
		{"an error", "failure success", func() error { return boom }},
		{"a panic", "failure success", func() error { panic("ouch") }},
		{"Goexit", "failure success", func() error { runtime.Goexit(); return nil }},
		{"discard", "discard", func() error { return engine.Discard(boom) }},
		{"snooze", "snooze success", func() error { return engine.Snooze(time.Minute) }},
		{"retry later", "failure success", func() error { return engine.RetryAfter(time.Minute, boom) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			newRig(t, func(_ context.Context, _ *rig, job *engine.Job[string]) error {
				if job.Attempt > 1 {
					return nil
				}
				return c.how()
			}).holds().want(c.ends)
		})
	}
	r := newRig(t, nil)
	r.sc.Jobs[0].Args = []byte("{")
	r.holds().want("undecodable")
	r = newRig(t, nil)
	r.sc.Jobs[0].Name = "stranger"
	r.sc.For = time.Minute
	r.holds().want("unknown-name unknown-name unknown-name unknown-name unknown-name")
}

// sleeper sleeps an hour in its first attempt, and says why it woke.
func sleeper(ctx context.Context, r *rig, job *engine.Job[string]) error {
	if job.Attempt > 1 {
		return nil
	}
	err := engine.Sleep(ctx, time.Hour)
	r.say("%v: %v", r.w.Elapsed().Round(time.Second), err)
	return err
}

func TestAHandlerIsToldWhy(t *testing.T) {
	for _, c := range []struct {
		name  string
		with  func(*Scenario)
		fault sim.Fault
		ends  string
		said  []string
	}{
		{"cancel", nil, sim.Cancel{At: 5 * time.Second, Job: "job"}, "failure", []string{"7s: " + engine.ErrCancelRequested.Error()}},
		{"drain", nil, sim.Drain{At: 5 * time.Second, Node: "n1", Restart: time.Second}, "lapse success", []string{"5s: " + engine.ErrDraining.Error()}},
		{"partition", nil, sim.Partition{At: 5 * time.Second, For: time.Minute, Nodes: []string{"n1"}}, "lapse success", []string{"13s: " + engine.ErrLeaseLost.Error()}},
		{"fatal error", nil, sim.StoreError{At: 5 * time.Second, For: 5 * time.Second, Class: "fatal", Nodes: []string{"n1"}}, "lapse success", []string{"5s: " + engine.ErrHalted.Error()}},
		{"timeout", func(sc *Scenario) { sc.Group.Timeouts = map[string]time.Duration{"job": 20 * time.Second} }, nil, "failure success", []string{"20s: " + engine.ErrHandlerTimeout.Error()}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, sleeper, sim.Crash{At: time.Minute, Node: "n1", Restart: time.Second})
			if c.with != nil {
				c.with(&r.sc)
			}
			if c.fault != nil {
				r.sc.Faults = append(r.sc.Faults, c.fault)
			}
			r.holds().want(c.ends, c.said...)
		})
	}
}

// What a dead process leaves behind: its calls that have left, and nothing else.
func TestACrashDropsTheHandler(t *testing.T) {
	unwound := 0
	handle := func(ctx context.Context, r *rig, job *engine.Job[string]) error {
		defer func() { unwound++ }()
		defer func() { _ = r.ask(ctx, "deferred") }()
		defer func() { _ = engine.Sleep(context.WithoutCancel(ctx), time.Second) }()
		defer func() { _ = r.w.Ledger().Write(ctx, "deferred", 1) }()
		defer func() { _ = recover() }()
		if job.Attempt > 1 {
			return nil
		}
		if err := r.ask(ctx, "first"); err != nil {
			return err
		}
		return r.ask(ctx, "second")
	}
	for _, c := range []struct {
		do   string
		said []string
	}{
		{"crash", []string{"0s is asked for /first"}},
		{"crash-after", []string{"0s is asked for /first", "0s is asked for /second"}},
	} {
		unwound = 0
		r := newRig(t, handle, sim.OnHandler{Job: "job", Nth: 2, Do: c.do, By: time.Second})
		// The second attempt is done when its deferred calls are.
		r.holds().want("lapse success", append(c.said, r.said[len(r.said)-1])...)
		if unwound != 4 { // two attempts, played twice
			t.Errorf("%s: %d attempts have left their goroutines, want 4", c.do, unwound)
		}
		if n := len(r.w.Ledger().Entries("deferred")); n != 1 {
			t.Errorf("%s: %d deferred writes, want that of the second attempt alone", c.do, n)
		}
	}
}

// What handlers keep in memory is gone with their process.
func TestEachProcessHasHandlersOfItsOwn(t *testing.T) {
	var w *World
	sc := Scenario{
		Nodes:  1,
		Jobs:   []Job{{Name: "job", ID: "a"}, {Name: "job", ID: "b", At: 5 * time.Second}, {Name: "job", ID: "c", At: time.Minute}},
		Faults: []sim.Fault{sim.Crash{At: 30 * time.Second, Node: "n1", Restart: time.Second}},
		Setup: func(world *World) func() *engine.Mux {
			w = world
			return func() *engine.Mux {
				n := int64(0)
				mux := engine.NewMux()
				mux.HandleRaw("job", func(ctx context.Context, _ *engine.RawJob) error {
					n++
					return w.Ledger().Write(ctx, "count", n)
				})
				return mux
			}
		},
	}
	s, err := sc.resolve("test")
	if err != nil {
		t.Fatal(err)
	}
	if f := s.judge(nil, true); f != nil {
		t.Fatal(f)
	}
	var got []int64
	for _, e := range w.Ledger().Entries("count") {
		got = append(got, e.Amount)
	}
	if len(got) != 3 || got[0] != 1 || got[1] != 2 || got[2] != 1 {
		t.Errorf("counted %v, want 1 2, and 1 again after the crash", got)
	}
}

// The work of a node stands still with it, and its timers ring late.
func TestAPauseHoldsTheHandler(t *testing.T) {
	handle := func(ctx context.Context, r *rig, job *engine.Job[string]) error {
		if err := engine.Sleep(ctx, 3*time.Second); err != nil {
			return err
		}
		r.say("%v: awake", r.w.Elapsed().Round(time.Second))
		return nil
	}
	newRig(t, handle, sim.Pause{At: time.Second, Node: "n1", For: 6 * time.Second}).holds().want("success", "7s: awake")
	newRig(t, handle, sim.Suspend{At: time.Second, Node: "n1", For: 6 * time.Second}).holds().want("success", "9s: awake")
	r := newRig(t, func(ctx context.Context, r *rig, job *engine.Job[string]) error {
		err := r.ask(ctx, "x")
		r.say("%v: back", r.w.Elapsed().Round(time.Second))
		return err
	}, sim.OnHandler{Job: "job", Do: "pause-after", By: 6 * time.Second})
	r.holds().want("success", "0s is asked for /x", "6s: back")
}

func TestWhatCanHappenToACall(t *testing.T) {
	handle := func(ctx context.Context, r *rig, job *engine.Job[string]) error {
		if job.Attempt > 1 {
			return nil
		}
		err := r.ask(ctx, "x")
		var timeout interface{ Timeout() bool }
		if errors.As(err, &timeout) && timeout.Timeout() {
			err = errors.New("timed out")
		}
		r.say("%v: %v", r.w.Elapsed().Round(time.Second), err)
		return err
	}
	for _, c := range []struct {
		do   string
		ends string
		said []string
	}{
		{"lose-request", "failure success", []string{"30s: timed out"}},
		{"lose-reply", "failure success", []string{"0s is asked for /x", "30s: timed out"}},
		{"delay-request", "success", []string{"5s is asked for /x", "5s: <nil>"}},
		{"delay-reply", "success", []string{"0s is asked for /x", "5s: <nil>"}},
		{"refuse", "failure success", []string{"0s: status 503"}},
	} {
		newRig(t, handle, sim.OnHandler{Job: "job", Nth: 1, Do: c.do, By: 5 * time.Second}).holds().want(c.ends, c.said...)
	}
	// A request that comes when nobody waits for it any more has its effect.
	newRig(t, handle, sim.OnHandler{Job: "job", Do: "delay-request", By: time.Minute}).holds().want("failure success", "30s: timed out", "1m0s is asked for /x")
}

// A client of the handler's own, with a timeout of real time, does no harm.
func TestTimeoutsOfRequests(t *testing.T) {
	r := newRig(t, func(ctx context.Context, r *rig, job *engine.Job[string]) error {
		client := &http.Client{Transport: r.w.HTTP().Transport, Timeout: time.Minute}
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://server/x", strings.NewReader("body"))
		if err != nil {
			return err
		}
		res, err := client.Do(req)
		if err != nil {
			r.say("%v: %v", r.w.Elapsed().Round(time.Second), err)
			return err
		}
		return res.Body.Close()
	}, sim.OnHandler{Job: "job", Do: "lose-reply"})
	r.sc.Timeout = 3 * time.Second
	r.holds().want("failure success", "0s is asked for /x", `3s: Post "http://server/x": simtest: no answer from server within 3s`, "5s is asked for /x")
}

func TestServersLiveInTrueTime(t *testing.T) {
	r := newRig(t, func(ctx context.Context, r *rig, job *engine.Job[string]) error {
		err := r.ask(ctx, "x")
		r.say("%v: back", r.w.Elapsed().Round(time.Second))
		return err
	})
	r.check = func(w *World) {
		w.Serve("server", http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
			began := engine.Now(q.Context())
			_ = engine.Sleep(q.Context(), 5*time.Second)
			r.say("took %v", engine.Now(q.Context()).Sub(began))
		}))
	}
	r.holds().want("success", "took 5s", "5s: back")
}

func TestInTx(t *testing.T) {
	handle := func(ctx context.Context, r *rig, job *engine.Job[string]) error {
		err := r.w.InTx(ctx, job, func(tx *Tx) error {
			tx.Write("a", 7)
			return engine.Sleep(ctx, 2*time.Second)
		})
		r.say("%v: %v", r.w.Elapsed().Round(time.Second), err)
		return err
	}
	for _, c := range []struct {
		name  string
		fault sim.Fault
		ends  string
		said  []string
	}{
		{"committed", sim.Start{Node: "n1"}, "success", []string{"2s: <nil>"}},
		{"the commit is lost", sim.OnHandler{Job: "job", Nth: 2, Do: "lose-request"}, "failure success", []string{"4s: simtest: commit of TOKEN: sim: no answer", "8s: <nil>"}},
		{"its answer is lost", sim.OnHandler{Job: "job", Nth: 2, Do: "lose-reply"}, "success", []string{"4s: simtest: commit of TOKEN: sim: no answer"}},
		{"refused", sim.OnHandler{Job: "job", Nth: 2, Do: "refuse"}, "failure success", []string{"2s: connection: injected", "6s: <nil>"}},
		{"the node dies before", sim.OnHandler{Job: "job", Nth: 2, Do: "crash", By: time.Second}, "lapse success", nil},
		{"the node dies after", sim.OnHandler{Job: "job", Nth: 2, Do: "crash-after", By: time.Second}, "success", nil},
		{"the commit comes after its handler gave up", sim.OnHandler{Job: "job", Nth: 2, Do: "delay-request", By: 3 * time.Second}, "failure success", []string{"4s: simtest: commit of TOKEN: sim: no answer", "8s: <nil>"}},
		{"cancelled by force", sim.Cancel{At: time.Second, Job: "job", Force: true}, "force", []string{"2s: " + store.ErrLeaseLost.Error()}},
		{"the node stands still until the lease is over", sim.OnHandler{Job: "job", Nth: 1, Do: "pause", By: 30 * time.Second}, "lapse success", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, handle, c.fault)
			r.holds()
			if n := r.w.Ledger().Balance("a"); n != 7 && c.ends != "force" || n != 0 && c.ends == "force" {
				t.Errorf("the balance is %d\n%s", n, told(r.story))
			}
			for i := range c.said {
				c.said[i] = replaceToken(c.said[i], r)
			}
			if c.said == nil {
				c.said = r.said
			}
			r.want(c.ends, c.said...)
		})
	}
}
