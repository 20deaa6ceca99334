package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"backwave/engine"
	"backwave/history"
	"backwave/store"
	"backwave/store/memory"
)

// bubbleClock lets a memory store live in the time of a synctest bubble.
type bubbleClock struct{}

func (bubbleClock) Now() store.Instant { return store.At(time.Now()) }

// TestARecordedEngineIsJudged: what a Recorder writes of an engine with real
// goroutines is a history that check reads, and finds in order.
func TestARecordedEngineIsJudged(t *testing.T) {
	name := filepath.Join(t.TempDir(), "h.jsonl")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	w := history.NewWriter(file)
	synctest.Test(t, func(t *testing.T) { runRecorded(t, w) })
	if err := errors.Join(w.Flush(), file.Close()); err != nil {
		t.Fatal(err)
	}
	want(t, exitHeld, []string{"held " + name, "3 jobs", "black-box held", "nothing was left unjudged"}, "check", name)

	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, call := range []string{`"enqueue":`, `"claim":`, `"renew":`, `"report":`, `"sweep":`, `"do":`} {
		if !strings.Contains(string(text), call) {
			t.Errorf("the history has no %s", call)
		}
	}
}

// runRecorded runs three jobs, one of them paused for a while, one long, one
// that fails twice.
func runRecorded(t *testing.T, sink history.Sink) {
	began := time.Now()
	st := history.NewRecorder(memory.NewLocked(memory.New(bubbleClock{})), sink, "test", func() int64 { return int64(time.Since(began)) })
	mux := engine.NewMux()
	mux.HandleRaw("quick", func(context.Context, *engine.RawJob) error { return nil })
	mux.HandleRaw("long", func(context.Context, *engine.RawJob) error { time.Sleep(time.Minute); return nil })
	mux.HandleRaw("bad", func(context.Context, *engine.RawJob) error { return errors.New("no") })
	e, err := engine.New(engine.Config{Store: st, Mux: mux, Groups: []engine.Group{{
		Name: "g", Queues: engine.Strict("a", "b"), RetryPolicy: engine.RetryPolicy{MaxAttempts: 2},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	do := func(id string, c store.Command) {
		if _, err := st.Do(t.Context(), &store.Do{Actor: "ann", RequestID: id, Command: c}); err != nil {
			t.Error(err)
		}
	}
	do("1", store.Pause{Queue: "b"})
	client := engine.NewClient(engine.ClientConfig{Store: st})
	if _, err := client.EnqueueMany(t.Context(), []engine.NewJob{
		{Name: "quick", Options: []engine.EnqueueOption{engine.Queue("b")}},
		{Name: "long", Options: []engine.EnqueueOption{engine.Queue("a")}},
		{Name: "bad", Options: []engine.EnqueueOption{engine.Queue("a")}},
	}); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 2*time.Minute)
	defer stop()
	time.AfterFunc(30*time.Second, func() { do("2", store.Resume{Queue: "b"}) })
	if err := e.Run(ctx); err != nil {
		t.Error(err)
	}
	if left, err := st.Unfinished(context.Background(), []string{"a", "b"}); left != 0 || err != nil {
		t.Errorf("%d jobs are left, %v", left, err)
	}
}
