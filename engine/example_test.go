package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"time"

	"backwave/engine"
	"backwave/store"
	"backwave/store/memory"
)

// realClock lets a memory store live in the time of this machine.
type realClock struct{}

func (realClock) Now() store.Instant { return store.At(time.Now()) }

type Email struct{ To, Subject string }

// A program that adds a job, runs it and stops.
func Example() {
	jobs := memory.NewLocked(memory.New(realClock{}))
	ctx, stop := context.WithCancel(context.Background())

	mux := engine.NewMux()
	engine.Handle(mux, "send-email", func(_ context.Context, job *engine.Job[Email]) error {
		fmt.Printf("attempt %d: to %s: %s\n", job.Attempt, job.Args.To, job.Args.Subject)
		stop() // programs stop at a signal instead
		return nil
	})
	e, err := engine.New(engine.Config{
		Store:  jobs,
		Mux:    mux,
		Groups: []engine.Group{{Name: "default", Queues: engine.Strict("emails", "reports"), PoolSize: 16}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	client := engine.NewClient(engine.ClientConfig{Store: jobs})
	if _, err := client.Enqueue(ctx, "send-email", Email{"ada@example.org", "hello"}, engine.Queue("emails")); err != nil {
		fmt.Println(err)
	}
	fmt.Println("Run returned", e.Run(ctx))

	// Output:
	// attempt 1: to ada@example.org: hello
	// Run returned <nil>
}

// What a handler's error says about the job.
func ExampleDiscard() {
	mux := engine.NewMux()
	engine.Handle(mux, "charge", func(_ context.Context, job *engine.Job[int]) error {
		switch {
		case job.Args < 0:
			return engine.Discard(errors.New("a negative amount")) // dead-lettered at once
		case job.Args > 1000:
			return engine.RetryAfter(time.Hour, errors.New("over the limit of this hour"))
		case job.Args == 0:
			return engine.Snooze(time.Minute) // costs no attempt
		}
		return nil
	})
	fmt.Println(mux.Names())
	// Output: [charge]
}

// Middleware sees every attempt, whatever its payload.
func ExampleMux_Use() {
	mux := engine.NewMux()
	mux.Use(func(next engine.Handler) engine.Handler {
		return func(ctx context.Context, job *engine.RawJob) error {
			err := next(ctx, job)
			slog.Info("attempt", "name", job.Name, "token", job.Token(), "err", err)
			return err
		}
	})
	engine.Handle(mux, "job", func(context.Context, *engine.Job[json.RawMessage]) error { return nil })
	fmt.Println(mux.Names())
	// Output: [job]
}

// A client only adds jobs; the program that runs them may be another one.
func ExampleClient_Enqueue() {
	jobs := memory.NewLocked(memory.New(realClock{}))
	client := engine.NewClient(engine.ClientConfig{Store: jobs, Queue: "emails"})
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second) // how long to try
	defer cancel()

	first, err := client.Enqueue(ctx, "send-email", Email{To: "ada@example.org"}, engine.In(time.Hour), engine.Unique("welcome-ada"), engine.MaxAttempts(3))
	fmt.Println(first.Existing, err)
	second, err := client.Enqueue(ctx, "send-email", Email{To: "ada@example.org"}, engine.Unique("welcome-ada"))
	fmt.Println(second.Existing, second.ID == first.ID, err)
	// Output:
	// false <nil>
	// true true <nil>
}

func ExampleClient_EnqueueMany() {
	jobs := memory.NewLocked(memory.New(realClock{}))
	client := engine.NewClient(engine.ClientConfig{Store: jobs})
	receipts, err := client.EnqueueMany(context.Background(), []engine.NewJob{
		{Name: "resize", Args: "a.png"},
		{Name: "resize", Args: "b.png", Options: []engine.EnqueueOption{engine.Queue("slow")}},
	})
	fmt.Println(len(receipts), err)
	// Output: 2 <nil>
}

// Every mistake in a configuration is reported at once.
func ExampleNew() {
	_, err := engine.New(engine.Config{
		Store: memory.NewLocked(memory.New(realClock{})),
		Mux:   engine.NewMux(),
		Groups: []engine.Group{{
			Name: "default", Queues: engine.Weighted(map[string]int{"a": 3, "b": 0}), PoolSize: -1,
		}},
	})
	fmt.Println(err)
	// Output:
	// engine: config:
	// 	group "default": field Queues[1] of "b" has weight 0, want 1 to 1000
	// 	group "default": field PoolSize is -1, want 1 to 10000
}

func ExampleHealthHandler() {
	e, err := engine.New(engine.Config{
		Store:  memory.NewLocked(memory.New(realClock{})),
		Mux:    engine.NewMux(),
		Groups: []engine.Group{{Name: "default", Queues: engine.Strict("default")}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer := httptest.NewRecorder()
	engine.HealthHandler(e.Health).ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/health", nil))
	fmt.Println(answer.Code, answer.Body)
	// Output: 200 All Worker Groups running.
}
