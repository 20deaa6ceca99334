package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// payload is what every job carries: 100 bytes of JSON.
type payload struct {
	Sent int64  `json:"t"` // when, in nanoseconds of our clock
	Fill string `json:"p"`
}

// fill makes a payload of today 100 bytes long.
var fill = strings.Repeat("x", 68)

// hooks are told what happens to jobs at work. Both may be called concurrently.
type hooks struct {
	started  func(took int64) // a handler begins, so many nanoseconds after its job was sent; nil: nobody asks
	finished func(n int)      // the ends of n jobs are recorded
}

// begin says that the handler begins of a job that was sent then.
func (h hooks) begin(sent int64) {
	if h.started != nil {
		h.started(time.Now().UnixNano() - sent)
	}
}

// start says the same for whoever has measured it himself.
func (h hooks) start(took int64) {
	if h.started != nil {
		h.started(took)
	}
}

// contender is a system on a fresh schema of its own.
type contender interface {
	load(ctx context.Context, n int) error                     // adds n jobs, in bulk
	add(ctx context.Context, sent int64) error                 // adds one job
	work(ctx context.Context, h hooks) (func() error, error)   // runs no-op handlers until the function is called
	left(ctx context.Context, conn *pgx.Conn) (n int, e error) // jobs that are not finished as successes
	close()
}

// eachAdder is a contender that adds n jobs one by one, from so many loops, at
// less cost to the bench than n calls of add.
type eachAdder interface {
	addEach(ctx context.Context, n, loops int) error
}

// foreign is a contender that works in a process of its own.
type foreign interface{ pid() int }

// connections is the size of every pool.
const connections = 16

// opener makes a contender.
type opener func(ctx context.Context, url string, t tuning) (contender, error)

// fresh makes an empty schema.
func fresh(ctx context.Context, url, schema string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, "drop schema if exists "+schema+" cascade; create schema "+schema); err != nil {
		return fmt.Errorf("make schema %s anew: %w", schema, err)
	}
	return nil
}

func pooled(url string) string {
	sep := "?"
	if strings.Contains(url, "?") {
		sep = "&"
	}
	return fmt.Sprintf("%s%spool_max_conns=%d", url, sep, connections)
}
