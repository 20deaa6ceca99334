package engine_test

import (
	"context"
	"errors"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"backwave/engine"
	"backwave/store"
	"backwave/store/memory"
)

// shy panics when it is printed.
type shy struct{}

func (shy) String() string { panic("no") }

// hollow is an error that cannot be printed while its pointer is nil.
type hollow struct{ text string }

func (h *hollow) Error() string { return h.text }

// amid enqueues the job between two good ones, runs all three in one batch, and
// expects the good ones to succeed. It returns the job as it is a millisecond
// later.
func (w *world) amid(name string, args any, opts ...engine.EnqueueOption) *store.Job {
	w.t.Helper()
	return w.amidAfter(func(store.JobID) {}, name, args, opts...)
}

// amidAfter lets spoil do something to the job before the batch is claimed.
func (w *world) amidAfter(spoil func(store.JobID), name string, args any, opts ...engine.EnqueueOption) *store.Job {
	w.t.Helper()
	engine.Handle(w.mux, "good", func(context.Context, *engine.Job[string]) error { return nil })
	before, id, after := w.enqueue("good", "a"), w.enqueue(name, args, opts...), w.enqueue("good", "b")
	spoil(id)
	e := w.start(w.store)
	time.Sleep(time.Millisecond)
	first := w.wantEnds(before, store.Succeeded, store.EndSuccess)
	last := w.wantEnds(after, store.Succeeded, store.EndSuccess)
	if first.Claim != last.Claim {
		w.t.Errorf("the neighbours were taken by claims %d and %d, want one batch", first.Claim, last.Claim)
	}
	if h := e.Health(); !h.Healthy() || len(w.logs.at(engine.LevelCritical)) > 0 {
		w.t.Errorf("the health is: %v", h)
	}
	w.stopClean(e)
	return w.job(id)
}

func TestABadHandlerHarmsNoNeighbour(t *testing.T) {
	ten := 10 * 365 * 24 * time.Hour
	for _, c := range []struct {
		name  string
		run   func(j *engine.Job[[]byte]) error
		state store.State
		end   store.EndKind
		text  string        // in what is recorded
		after time.Duration // until it is due again; 0 = as the policy says, about 2 s
	}{
		{"error with NUL and invalid UTF-8", func(*engine.Job[[]byte]) error { return errors.New("a\x00b\xffc") }, store.Scheduled, store.EndFailure, "a\uFFFDb\uFFFDc", 0},
		{"error of 30 MB", func(*engine.Job[[]byte]) error { return errors.New(strings.Repeat("é", 15<<20)) }, store.Scheduled, store.EndFailure, "é… (cut)", 0},
		{"error that is a nil pointer", func(*engine.Job[[]byte]) error { var h *hollow; return h }, store.Scheduled, store.EndFailure, "that panics when printed", 0},
		{"leaves its goroutine", func(*engine.Job[[]byte]) error { runtime.Goexit(); return nil }, store.Scheduled, store.EndFailure, "Goexit", 0},
		{"panics with nil", func(*engine.Job[[]byte]) error { panic(nil) }, store.Scheduled, store.EndFailure, "panic called with nil", 0},
		{"panics with 30 MB", func(*engine.Job[[]byte]) error { panic(strings.Repeat("\xff", 30<<20)) }, store.Scheduled, store.EndFailure, "panic: \uFFFD", 0},
		{"panics with what cannot be printed", func(*engine.Job[[]byte]) error { panic(shy{}) }, store.Scheduled, store.EndFailure, "panic: ", 0},
		{"output over its bound", func(j *engine.Job[[]byte]) error { return j.SetOutput(make([]byte, store.MaxOutput+1)) }, store.Scheduled, store.EndFailure, "at most 65536 are allowed", 0},
		{"output over its bound, ignored", func(j *engine.Job[[]byte]) error { _ = j.SetOutput(make([]byte, 10<<20)); return nil }, store.Succeeded, store.EndSuccess, "", 0},
		{"progress over its bound", func(j *engine.Job[[]byte]) error { return j.SetProgress(make([]byte, store.MaxProgress+1)) }, store.Scheduled, store.EndFailure, "at most 4096 are allowed", 0},
		{"output of NUL and invalid UTF-8", func(j *engine.Job[[]byte]) error { return j.SetOutput([]byte("\x00\xff")) }, store.Succeeded, store.EndSuccess, "", 0},
		{"discards without an error", func(*engine.Job[[]byte]) error { return engine.Discard(nil) }, store.DeadLettered, store.EndDiscard, "nil", 0},
		{"retry at once, before now", func(*engine.Job[[]byte]) error { return engine.RetryAfter(math.MinInt64, errors.New("x")) }, store.Scheduled, store.EndFailure, "x", -1},
		{"retry in an age", func(*engine.Job[[]byte]) error { return engine.RetryAfter(math.MaxInt64, errors.New("x")) }, store.Scheduled, store.EndFailure, "x", ten},
		{"snooze into the past", func(*engine.Job[[]byte]) error { return engine.Snooze(math.MinInt64) }, store.Scheduled, store.EndSnooze, "", time.Second},
		{"snooze for an age", func(*engine.Job[[]byte]) error { return engine.Snooze(math.MaxInt64) }, store.Scheduled, store.EndSnooze, "", ten},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				runs := 0
				engine.Handle(w.mux, "bad", func(_ context.Context, j *engine.Job[[]byte]) error {
					if runs++; runs > 1 {
						return engine.Snooze(time.Hour) // the second run of what is due at once
					}
					return c.run(j)
				})
				j := w.amid("bad", []byte("\x00\xff"))
				e := j.Ends[0]
				if e.Kind != c.end || len(j.Ends) == 1 && j.State != c.state {
					t.Errorf("the job is %v after %v, want %v after %v", j.State, e.Kind, c.state, c.end)
				}
				if !strings.Contains(e.Error, c.text) || len(e.Error) > store.MaxError || !utf8.ValidString(e.Error) || strings.Contains(e.Error, "\x00") {
					t.Errorf("recorded were %d bytes: %.100q, want %q in them", len(e.Error), e.Error, c.text)
				}
				if c.state != store.Scheduled {
					return
				}
				switch late := e.Due.Sub(e.At); {
				case c.after == 0 && (late < 1800*time.Millisecond || late > 2200*time.Millisecond),
					c.after < 0 && late != 0, c.after > 0 && late != c.after:
					t.Errorf("it is due again after %v, want %v", late, c.after)
				}
			})
		})
	}
}

func TestABadJobHarmsNoNeighbour(t *testing.T) {
	for _, c := range []struct {
		name, job string
		args      any
		state     store.State
		end       store.EndKind
	}{
		{"payload that is no JSON", "typed", []byte("{"), store.Quarantined, store.EndUndecodable},
		{"payload of NUL", "typed", []byte("\x00\x00"), store.Quarantined, store.EndUndecodable},
		{"payload of invalid UTF-8", "typed", []byte("\xff"), store.Quarantined, store.EndUndecodable},
		{"payload of another type", "typed", []byte(`"text"`), store.Quarantined, store.EndUndecodable},
		{"payload nested deeply", "typed", []byte(strings.Repeat("[", 1<<19) + strings.Repeat("]", 1<<19)), store.Quarantined, store.EndUndecodable},
		{"codec that panics", "panicky", []byte("1"), store.Scheduled, store.EndFailure},
		{"unknown name", "nobody's \"name\" 🐘", nil, store.Scheduled, store.EndUnknownName},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				ran := func(context.Context, *engine.Job[struct{ N int }]) error { t.Error("the handler ran"); return nil }
				engine.Handle(w.mux, "typed", ran)
				engine.Handle(w.mux, "panicky", ran, engine.WithCodec(explosive{}))
				j := w.amid(c.job, c.args)
				w.wantEnds(j.ID, c.state, c.end)
			})
		})
	}
}

// explosive is a codec that panics with what cannot be printed.
type explosive struct{}

func (explosive) Encode(any) ([]byte, error) { return nil, nil }
func (explosive) Decode([]byte, any) error   { panic(shy{}) }

func TestARowThatCannotBeReadHarmsNoNeighbour(t *testing.T) {
	inBubble(t, func(w *world) {
		raw := memory.New(bubbleClock{})
		w.store.Locked = memory.NewLocked(raw)
		w.client = engine.NewClient(engine.ClientConfig{Store: w.store})
		engine.Handle(w.mux, "bad", func(context.Context, *engine.Job[[]byte]) error { t.Error("the handler ran"); return nil })
		j := w.amidAfter(func(id store.JobID) { raw.Damage(id, "torn \x00\xff") }, "bad", nil)
		w.wantEnds(j.ID, store.Quarantined, store.EndUndecodable)
	})
}

func TestWhenABadJobIsDue(t *testing.T) {
	for _, c := range []struct {
		name string
		when engine.EnqueueOption
		ran  bool
	}{
		{"before now", engine.In(math.MinInt64), true},
		{"in an age", engine.In(math.MaxInt64), false},
		{"before 1970", engine.At(time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)), true},
		{"before time", engine.At(time.Unix(math.MinInt64, 0)), true},
		{"beyond 9999", engine.At(time.Date(12345, 1, 1, 0, 0, 0, 0, time.UTC)), false},
		{"beyond time", engine.At(time.Unix(math.MaxInt64, 0)), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				ran := false
				engine.Handle(w.mux, "bad", func(context.Context, *engine.Job[[]byte]) error { ran = true; return nil })
				j := w.amid("bad", nil, c.when)
				if ran != c.ran || ran != (j.State == store.Succeeded) {
					t.Errorf("it ran: %v, want %v; it is %v, due %v", ran, c.ran, j.State, j.Due)
				}
			})
		})
	}
}

func TestQueuesOfAnyName(t *testing.T) {
	names := []string{`it's "quoted"; DROP TABLE jobs --`, "🐘🐘", "new\nline\ttab", "%s%n$1?", strings.Repeat("q", store.MaxName), strings.Repeat("é", 127), "good"}
	inBubble(t, func(w *world) {
		var ids []store.JobID
		got := map[string]bool{}
		engine.Handle(w.mux, "job", func(_ context.Context, j *engine.Job[[]byte]) error { got[j.Queue] = true; return nil })
		for _, q := range names {
			ids = append(ids, w.enqueue("job", nil, engine.Queue(q)))
		}
		e := w.start(w.store, engine.Group{Name: "main", Queues: engine.Strict(names...), PoolSize: 1})
		time.Sleep(time.Second)
		for i, id := range ids {
			if w.wantEnds(id, store.Succeeded, store.EndSuccess); !got[names[i]] {
				t.Errorf("no job of queue %q ran", names[i])
			}
		}
		w.stopClean(e)
	})
}

// What no store takes is refused by the client, before anything is added.
func TestBadJobsAreRefused(t *testing.T) {
	inBubble(t, func(w *world) {
		var over *store.BoundError
		var invalid *store.InvalidError
		long := strings.Repeat("🐘", 250) // 1,000 bytes
		for _, c := range []struct {
			what   string
			job    engine.NewJob
			target any
		}{
			{"queue of 1,000 bytes", engine.NewJob{Name: "job", Options: []engine.EnqueueOption{engine.Queue(long)}}, &over},
			{"queue of 256 bytes", engine.NewJob{Name: "job", Options: []engine.EnqueueOption{engine.Queue(strings.Repeat("q", store.MaxName+1))}}, &over},
			{"name of 1,000 bytes", engine.NewJob{Name: long}, &over},
			{"key of 1,000 bytes", engine.NewJob{Name: "job", Options: []engine.EnqueueOption{engine.Unique(long)}}, &over},
			{"payload over its bound", engine.NewJob{Name: "job", Args: make([]byte, store.MaxPayload+1)}, &over},
			{"no name", engine.NewJob{}, &invalid},
			{"no queue", engine.NewJob{Name: "job", Options: []engine.EnqueueOption{engine.Queue("")}}, &invalid},
			{"name with NUL", engine.NewJob{Name: "a\x00"}, &invalid},
			{"queue with NUL", engine.NewJob{Name: "job", Options: []engine.EnqueueOption{engine.Queue("\x00")}}, &invalid},
			{"queue of invalid UTF-8", engine.NewJob{Name: "job", Options: []engine.EnqueueOption{engine.Queue("\xff")}}, &invalid},
			{"key of invalid UTF-8", engine.NewJob{Name: "job", Options: []engine.EnqueueOption{engine.Unique("\xff")}}, &invalid},
			{"attempts below 0", engine.NewJob{Name: "job", Options: []engine.EnqueueOption{engine.MaxAttempts(-1)}}, &invalid},
		} {
			if _, err := w.client.EnqueueMany(t.Context(), []engine.NewJob{{Name: "good"}, c.job}); !errors.As(err, c.target) {
				t.Errorf("%s: refused with %v, want a %T", c.what, err, c.target)
			}
		}
		if _, err := w.client.Enqueue(t.Context(), "job", func() {}); err == nil {
			t.Error("what cannot be encoded was taken")
		}
		if n, err := w.store.Unfinished(t.Context(), []string{"default"}); n != 0 || err != nil {
			t.Errorf("%d jobs were added, %v", n, err)
		}
	})
}
