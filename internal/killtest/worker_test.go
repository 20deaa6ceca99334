//go:build unix

package killtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"backwave/engine"
	"backwave/history"
	"backwave/store"
	"backwave/store/postgres"
	"backwave/store/sqlite"
)

// The environment of a worker process.
const (
	envStore   = "KILLTEST_STORE"   // its DSN; set = this is a worker
	envSchema  = "KILLTEST_SCHEMA"  // of PostgreSQL
	envHistory = "KILLTEST_HISTORY" // file for its history
)

const (
	queue  = "q"
	plain  = "plain"  // jobs that only return
	effect = "effect" // jobs that write into the store's own database
	lease  = 2 * time.Second
)

func TestMain(m *testing.M) {
	if os.Getenv(envStore) != "" {
		if err := work(); err != nil {
			fmt.Fprintln(os.Stderr, "worker:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// shared is a store, and how a handler writes into its database together with
// its success.
type shared struct {
	store.Store
	inTx  func(ctx context.Context, job store.Attempt, statement string) error
	query func(ctx context.Context, statement string) (map[string]int, error)
	close func()
}

// insert writes an effect. Nothing in the table keeps a job from writing twice.
func insert(job store.Attempt) string {
	return fmt.Sprintf("insert into effects (job, attempt) values ('%v', %d)", job.Key().Job, job.Key().Attempt)
}

func open(ctx context.Context, dsn, schema string) (*shared, error) {
	if path, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
		return openSQLite(ctx, path)
	}
	s, err := postgres.Open(ctx, postgres.Config{URL: dsn, Schema: schema})
	if err != nil {
		return nil, err
	}
	if err := s.Migrate(ctx); err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return nil, err
	}
	table := pgx.Identifier{schema, "effects"}.Sanitize()
	named := func(q string) string { return strings.ReplaceAll(q, " effects", " "+table) }
	_, err = conn.Exec(ctx, named("create table if not exists effects (job text not null, attempt int not null)"))
	return &shared{
		Store: s,
		inTx: func(ctx context.Context, job store.Attempt, q string) error {
			return s.InTx(ctx, job, func(tx pgx.Tx) error { _, err := tx.Exec(ctx, named(q)); return err })
		},
		query: func(ctx context.Context, q string) (map[string]int, error) {
			rows, err := conn.Query(ctx, named(q))
			if err != nil {
				return nil, err
			}
			out := map[string]int{}
			var job string
			var n int
			_, err = pgx.ForEachRow(rows, []any{&job, &n}, func() error { out[job] = n; return nil })
			return out, err
		},
		close: func() { _ = conn.Close(ctx); s.Close() },
	}, err
}

func openSQLite(ctx context.Context, path string) (*shared, error) {
	s, err := sqlite.Open(ctx, sqlite.Config{Path: path})
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, err
	}
	_, err = db.ExecContext(ctx, "create table if not exists effects (job text not null, attempt int not null)")
	return &shared{
		Store: s,
		inTx: func(ctx context.Context, job store.Attempt, q string) error {
			return s.InTx(ctx, job, func(tx *sql.Tx) error { _, err := tx.ExecContext(ctx, q); return err })
		},
		query: func(ctx context.Context, q string) (map[string]int, error) {
			rows, err := db.QueryContext(ctx, q)
			if err != nil {
				return nil, err
			}
			defer func() { _ = rows.Close() }()
			out := map[string]int{}
			for rows.Next() {
				var job string
				var n int
				if err := rows.Scan(&job, &n); err != nil {
					return nil, err
				}
				out[job] = n
			}
			return out, rows.Err()
		},
		close: func() { _ = db.Close(); _ = s.Close() },
	}, err
}

// work is the life of a worker process.
func work() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	s, err := open(ctx, os.Getenv(envStore), os.Getenv(envSchema))
	if err != nil {
		return err
	}
	defer s.close()
	file, err := os.Create(os.Getenv(envHistory))
	if err != nil {
		return err
	}
	rec := history.NewRecorder(s.Store, history.NewWriter(file).Flushed(), fmt.Sprintf("process %d", os.Getpid()), func() int64 { return time.Now().UnixNano() })
	mux := engine.NewMux()
	rest := func(ctx context.Context, job *engine.RawJob) { // 10 to 60 ms, by the job
		select {
		case <-time.After(time.Duration(10+int(job.ID[15])%50) * time.Millisecond):
		case <-ctx.Done():
		}
	}
	mux.HandleRaw(plain, func(ctx context.Context, job *engine.RawJob) error {
		rest(ctx, job)
		return nil // also when told to stop: the store decides
	})
	mux.HandleRaw(effect, func(ctx context.Context, job *engine.RawJob) error {
		rest(ctx, job)
		return s.inTx(ctx, job, insert(job))
	})
	e, err := engine.New(engine.Config{
		Store: rec, Mux: mux, ShutdownTimeout: time.Second, Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
		Groups: []engine.Group{{
			Name: "g", Queues: engine.Strict(queue), PoolSize: 8, LeaseDuration: lease,
			PollInterval: 100 * time.Millisecond, MaintenanceInterval: 300 * time.Millisecond,
			RetryPolicy: engine.RetryPolicy{MaxAttempts: 1000, First: 100 * time.Millisecond, Cap: 300 * time.Millisecond},
		}},
	})
	if err != nil {
		return err
	}
	err = e.Run(ctx)
	if _, left := errors.AsType[*engine.AbandonedError](err); left {
		return nil
	}
	if err == nil && !e.Health().Healthy() {
		return errors.New(e.Health().String())
	}
	return err
}
