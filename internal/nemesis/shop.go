//go:build unix

package nemesis

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"backwave/store"
	"backwave/store/postgres"
	"backwave/store/sqlite"
)

// shop is a store, and a table of effects in its database. Nothing in that table
// keeps a job from writing twice.
type shop struct {
	store.Store
	write   func(ctx context.Context, e effect) error                    // on its own
	inTx    func(ctx context.Context, job store.Attempt, e effect) error // together with the success of job
	effects func(ctx context.Context) ([]effect, error)                  // all that were written
	close   func()
}

// effect is a row of the table.
type effect struct {
	job     string
	attempt int
}

func open(ctx context.Context, dsn, schema string) (*shop, error) {
	if u, err := url.Parse(dsn); err == nil && u.Scheme != "" {
		return openPostgres(ctx, dsn, schema)
	}
	return openSQLite(ctx, dsn)
}

// openPostgres connects when it is first used, so that a worker can start while
// nobody answers.
func openPostgres(ctx context.Context, dsn, schema string) (*shop, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, err
	}
	q := u.Query()
	q.Set("pool_max_conns", strconv.Itoa(poolSize+4)) // a handler each in InTx, and what a pump and a client use
	u.RawQuery = q.Encode()
	dsn = u.String()
	s, err := postgres.Open(ctx, postgres.Config{URL: dsn, Schema: schema, Pumps: 1, Completing: poolSize})
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.New(ctx, dsn)
	if err != nil {
		s.Close()
		return nil, err
	}
	table := pgx.Identifier{schema, "effect"}.Sanitize()
	insert := "insert into " + table + " (job, attempt) values ($1, $2)"
	return &shop{
		Store: s,
		write: func(ctx context.Context, e effect) error {
			_, err := pool.Exec(ctx, insert, e.job, e.attempt)
			return err
		},
		inTx: func(ctx context.Context, job store.Attempt, e effect) error {
			return s.InTx(ctx, job, func(tx pgx.Tx) error {
				_, err := tx.Exec(ctx, insert, e.job, e.attempt)
				return err
			})
		},
		effects: func(ctx context.Context) (out []effect, err error) {
			rows, err := pool.Query(ctx, "select job, attempt from "+table+" order by job, attempt")
			if err != nil {
				return nil, err
			}
			var e effect
			_, err = pgx.ForEachRow(rows, []any{&e.job, &e.attempt}, func() error { out = append(out, e); return nil })
			return out, err
		},
		close: func() { pool.Close(); s.Close() },
	}, nil
}

// migrate makes the tables in a schema that must not exist.
func migrate(ctx context.Context, dsn, schema string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	name := pgx.Identifier{schema}.Sanitize()
	if _, err := conn.Exec(ctx, "create schema "+name); err != nil {
		return err
	}
	s, err := postgres.Open(ctx, postgres.Config{URL: dsn, Schema: schema})
	if err != nil {
		return err
	}
	defer s.Close()
	if err := s.Migrate(ctx); err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "create table "+name+".effect (job text not null, attempt int not null)")
	return err
}

// drop removes the schema again.
func drop(ctx context.Context, dsn, schema string) error {
	conn, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, "drop schema if exists "+pgx.Identifier{schema}.Sanitize()+" cascade")
	return err
}

func openSQLite(ctx context.Context, path string) (*shop, error) {
	s, err := sqlite.Open(ctx, sqlite.Config{Path: path})
	if err != nil {
		return nil, err
	}
	db, err := fileOf(path)
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	const insert = "insert into effect (job, attempt) values (?, ?)"
	return &shop{
		Store: s,
		write: func(ctx context.Context, e effect) error {
			_, err := db.ExecContext(ctx, insert, e.job, e.attempt)
			return err
		},
		inTx: func(ctx context.Context, job store.Attempt, e effect) error {
			return s.InTx(ctx, job, func(tx *sql.Tx) error {
				_, err := tx.ExecContext(ctx, insert, e.job, e.attempt)
				return err
			})
		},
		effects: func(ctx context.Context) (out []effect, err error) {
			rows, err := db.QueryContext(ctx, "select job, attempt from effect order by job, attempt")
			if err != nil {
				return nil, err
			}
			defer func() { _ = rows.Close() }()
			for rows.Next() {
				var e effect
				if err := rows.Scan(&e.job, &e.attempt); err != nil {
					return nil, err
				}
				out = append(out, e)
			}
			return out, rows.Err()
		},
		close: func() { _ = db.Close(); _ = s.Close() },
	}, nil
}

// fileOf opens a SQLite file as a program beside the store does.
func fileOf(path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?_pragma=busy_timeout(5000)")
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	return db, nil
}
