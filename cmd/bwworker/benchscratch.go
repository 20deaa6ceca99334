package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// scratch is a store beside a store of somebody's: on the same server, or the
// same disk, and empty.
type scratch struct {
	target target
	kind   string       // of store
	what   string       // was made, as a person names it
	remove func() error // of what was made; the store is closed by then
}

// newScratch makes room for a store beside t; opening target makes the rest.
func newScratch(t target) (*scratch, error) {
	kind, rest, _ := strings.Cut(t.dsn, ":")
	switch {
	case isPostgres(t.dsn):
		return scratchSchema(t)
	case kind == "sqlite":
		dir, err := os.MkdirTemp(filepath.Dir(rest), "backwave-bench-")
		if err != nil {
			return nil, err
		}
		t.dsn = "sqlite:" + filepath.Join(dir, "bench.db")
		return &scratch{t, kind, "the folder " + dir, func() error { return os.RemoveAll(dir) }}, nil
	}
	return &scratch{t, kind, "memory", func() error { return nil }}, nil
}

// dropTimeout bounds the removal of a schema: somebody may wait at a keyboard.
const dropTimeout = 30 * time.Second

func scratchSchema(t target) (*scratch, error) {
	u, _, err := withoutSchema(t.dsn)
	if err != nil {
		return nil, err
	}
	if t.direct != "" {
		direct, _, err := withoutSchema(t.direct)
		if err != nil {
			return nil, err
		}
		t.direct = direct.String()
	}
	address := u.String()
	schema := "backwave_bench_" + strings.ToLower(rand.Text()[:10])
	u.RawQuery = strings.TrimPrefix(u.RawQuery+"&schema="+schema, "&")
	t.dsn = u.String()
	return &scratch{t, "postgres", "schema " + schema, func() error { return dropSchema(address, schema) }}, nil
}

func dropSchema(address, schema string) error {
	ctx, cancel := context.WithTimeout(context.Background(), dropTimeout)
	defer cancel()
	cfg, err := pgxpool.ParseConfig(address) // an address may have parameters of a pool
	if err != nil {
		return err
	}
	conn, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, "drop schema if exists "+pgx.Identifier{schema}.Sanitize()+" cascade")
	if err = errors.Join(err, conn.Close(ctx)); err != nil {
		return fmt.Errorf("drop schema %s: %w", schema, err)
	}
	return nil
}
