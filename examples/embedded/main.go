// Embedded is a worker within a program of your own: handlers in Go, jobs in a
// SQLite file beside it. It greets once and goes on until it is interrupted.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"

	"backwave/engine"
	"backwave/store/sqlite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, "embedded.db"); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, file string) error {
	st, err := sqlite.Open(ctx, sqlite.Config{Path: file})
	if err != nil {
		return err
	}
	defer st.Close()
	mux := engine.NewMux()
	engine.Handle(mux, "greet", func(_ context.Context, job *engine.Job[string]) error {
		_, err := fmt.Printf("hello %s, says %v\n", job.Args, job.Token())
		return err
	})
	if _, err := engine.NewClient(engine.ClientConfig{Store: st}).Enqueue(ctx, "greet", "Ada"); err != nil {
		return err
	}
	e, err := engine.New(engine.Config{Store: st, Mux: mux, Groups: []engine.Group{{Name: "main", Queues: engine.Strict("default")}}})
	if err != nil {
		return err
	}
	return e.Run(ctx) // drains when ctx ends
}
