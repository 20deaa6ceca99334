package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"backwave/store/postgres"
	"backwave/store/sqlite"
)

func openSQLite(ctx context.Context, t target) (*opened, error) {
	file := strings.TrimPrefix(t.dsn, "sqlite:")
	s, err := sqlite.Open(ctx, sqlite.Config{Path: file})
	if err != nil {
		if _, gone := os.Stat(filepath.Dir(file)); gone != nil {
			err = fmt.Errorf("%w: its folder must be there: %w", err, gone)
		}
		return nil, err
	}
	return &opened{Store: s, schema: sqlite.SchemaVersion(), close: func() { _ = s.Close() }}, nil
}

func sqliteTables(target) (string, error) { return sqlite.MigrationSQL(), nil }

// openPostgres also finds out whether the server answers. Tables that are up to
// date are left alone, so that a role that may not make any will do.
func openPostgres(ctx context.Context, t target) (*opened, error) {
	s, err := postgresStore(ctx, t)
	if err != nil {
		return nil, &exitError{exitUsage, err}
	}
	err = s.CheckSchema(ctx)
	if old, ok := errors.AsType[*postgres.SchemaError](err); ok && old.Have < old.Want {
		err = s.Migrate(ctx)
	}
	if err != nil {
		s.Close()
		return nil, advised(err)
	}
	return &opened{Store: s, schema: postgres.SchemaVersion, close: s.Close}, nil
}

// advice is what to do about a server's refusal, by SQLSTATE.
var advice = map[string]string{
	"28P01": "check user and password of the address",
	"28000": "check the user of the address, and pg_hba.conf of the server",
	"3D000": "make the database, or check its name in the address",
	"42501": "making tables needs CREATE on the database; bwworker migrate may do it with another role",
}

// advised says what to do about err, where that is known, instead of all the
// ways in which the driver has tried.
func advised(err error) error {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		if what, ok := advice[e.Code]; ok {
			return fmt.Errorf("%w: %s", e, what)
		}
	}
	return err
}

func postgresTables(t target) (string, error) {
	s, err := postgresStore(context.Background(), t) // connects with the first call, and there is none
	if err != nil {
		return "", err
	}
	defer s.Close()
	return s.MigrationSQL()
}

// poolParameter bounds the connections of the pool, in a URL.
const poolParameter = "pool_max_conns"

// postgresStore makes a store of what t says. Where the URL leaves the size of
// the pool open, it is made large enough for the pumps.
func postgresStore(ctx context.Context, t target) (*postgres.Store, error) {
	u, schema, err := withoutSchema(t.dsn)
	if err != nil {
		return nil, err
	}
	cfg := postgres.Config{URL: u.String(), Schema: schema, Pumps: t.pumps, NoNotify: t.noNotify}
	if t.direct != "" {
		direct, other, err := withoutSchema(t.direct)
		if err != nil {
			return nil, fmt.Errorf("direct store: %w", err)
		}
		if other != "" && other != schema {
			return nil, fmt.Errorf("the direct store has schema %q, the store %q: want the same, or none", other, schema)
		}
		cfg.DirectURL = direct.String()
	}
	s, err := postgres.Open(ctx, cfg)
	if small, ok := errors.AsType[*postgres.PoolError](err); ok && !u.Query().Has(poolParameter) {
		u.RawQuery += "&" + poolParameter + "=" + strconv.Itoa(small.Want)
		cfg.URL = u.String()
		s, err = postgres.Open(ctx, cfg)
	}
	return s, err
}

// withoutSchema takes our own parameter, schema, out of a URL. The others stay as
// they were written: PostgreSQL reads + in them as itself, Go as a blank.
func withoutSchema(dsn string) (u *url.URL, schema string, err error) {
	if u, err = url.Parse(dsn); err != nil {
		return nil, "", errors.New("the address is no URL") // the error would quote it
	}
	schema = u.Query().Get("schema")
	others := slices.DeleteFunc(strings.Split(u.RawQuery, "&"), func(p string) bool { return p == "" || strings.HasPrefix(p, "schema=") })
	u.RawQuery = strings.Join(others, "&")
	return u, schema, nil
}
