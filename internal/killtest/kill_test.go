//go:build unix

package killtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"backwave/internal/nemesis"
	"backwave/internal/pgtest"
)

// asWorker is the first argument of a process that is a worker.
const asWorker = "be-a-worker"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == asWorker {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		os.Exit(nemesis.Work(ctx, os.Args[2:], os.Stdin, os.Stderr))
	}
	os.Exit(m.Run())
}

func TestNothingIsLostOrDoneTwice(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		harm(t, nemesis.Config{Store: nemesis.SQLite, Seed: seed})
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url, schema := pgtest.Schema(t)
		harm(t, nemesis.Config{Store: nemesis.Postgres, URL: url, Schema: schema, Seed: seed})
	})
}

func harm(t *testing.T, cfg nemesis.Config) {
	cfg.For, cfg.Pace, cfg.Dir = 10*time.Second, time.Second, t.TempDir()
	cfg.Worker = func(args []string) (*exec.Cmd, error) {
		return exec.Command(os.Args[0], append([]string{asWorker}, args...)...), nil
	}
	r, err := nemesis.Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		t.Errorf("%s: job %s: %s", f.Check, f.Job, f.Message)
	}
	did := map[nemesis.Kind]int{}
	for _, d := range r.Done {
		did[d.Kind]++
	}
	t.Logf("seed %d, what was done: %v; %d jobs, %d attempts, %s", cfg.Seed, did, r.Jobs, r.Attempts, fmt.Sprint(r.Ends))
	if r.Jobs == 0 || len(did) < 3 || 2*(r.NotAttempted+r.Undecided) > r.LinearJobs {
		t.Errorf("too little was done, or judged: %d of %d jobs could not be", r.NotAttempted+r.Undecided, r.LinearJobs)
	}
}
