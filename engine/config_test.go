package engine_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"backwave/engine"
)

func TestNewReportsEveryMistakeAtOnce(t *testing.T) {
	mux := engine.NewMux()
	nothing := func(context.Context, *engine.Job[[]byte]) error { return nil }
	engine.Handle(mux, "twice", nothing)
	engine.Handle(mux, "twice", nothing)
	engine.Handle(mux, "", nothing)
	engine.Handle[[]byte](mux, "none", nil)
	mux.HandleRaw("none raw", nil)
	_, err := engine.New(engine.Config{Mux: mux, ShutdownTimeout: -1, Groups: []engine.Group{
		{Name: "a", Queues: engine.Strict("q", "q"), PoolSize: -1},
		{Name: "a", Queues: engine.Weighted(map[string]int{"x": 0}), LeaseDuration: time.Millisecond, Pumps: 1001},
		{Queues: engine.Strict("bad\x00name"), Timeouts: map[string]time.Duration{"job": -1}, RetryPolicies: map[string]engine.RetryPolicy{"job": {Jitter: 51}}},
		{Name: "nul", Queues: engine.Strict("bad\x00name")},
	}})
	var bad *engine.ConfigError
	if !errors.As(err, &bad) {
		t.Fatalf("New returned %v", err)
	}
	for _, want := range []string{
		"field Store is nil",
		"field ShutdownTimeout is -1ns",
		`handler "twice": the name has a handler already`,
		`handler "none": it is nil`,
		`handler "none raw": it is nil`,
		`handler "": the name has 0 bytes`,
		`group "a": field Queues names "q" twice`,
		`group "a": field PoolSize is -1, want 1 to 10000`,
		`group "a": another group has the same name`,
		`group "a": field Queues[0] of "x" has weight 0`,
		`group "a": field LeaseDuration is 1ms`,
		`group "a": field Pumps is 1001`,
		`group "": field Name has 0 bytes`,
		`group "": field Timeouts[0] of "job" is -1ns`,
		`group "": field RetryPolicy of "job" has a jitter of 51 %`,
		`group "nul": store: queue 0 "bad\x00name" contains a NUL byte`,
	} {
		if n := strings.Count(err.Error(), want); n != 1 {
			t.Errorf("%q is said %d times in:\n%v", want, n, err)
		}
	}
	if n := strings.Count(err.Error(), "ShutdownTimeout"); n != 1 {
		t.Errorf("ShutdownTimeout is mentioned %d times", n)
	}
}

func TestNewNeedsSomething(t *testing.T) {
	_, err := engine.New(engine.Config{})
	if want := "engine: config:\n\tfield Store is nil, want a store\n\tfield Mux is nil, want the handlers\n\tfield Groups is empty, want at least one group"; err == nil || err.Error() != want {
		t.Errorf("New returned %v, want %s", err, want)
	}
}

func TestNewNeverWritesWhatItIsGiven(t *testing.T) {
	inBubble(t, func(w *world) {
		engine.Handle(w.mux, "job", func(context.Context, *engine.Job[[]byte]) error { return nil })
		group := func() engine.Group {
			return engine.Group{Name: "main", Queues: engine.Weighted(map[string]int{"b": 1, "a": 2}), Timeouts: map[string]time.Duration{"job": time.Second}}
		}
		cfg := engine.Config{Store: w.store, Mux: w.mux, Groups: []engine.Group{group()}}
		if _, err := engine.New(cfg); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(cfg.Groups[0], group()) || cfg.Clock != nil || cfg.Logger != nil || cfg.ShutdownTimeout != 0 {
			t.Errorf("the config became %+v", cfg)
		}
		if got := strings.Join(group().Queues.Queues(), " "); got != "a b" {
			t.Errorf("weighted queues are listed as %s, want sorted", got)
		}
	})
}
