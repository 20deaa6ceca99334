package main

import (
	"context"
	"errors"
	"net/url"
	"strings"

	"backwave/store/postgres"
	"backwave/store/sqlite"
)

func openSQLite(ctx context.Context, dsn string) (*opened, error) {
	s, err := sqlite.Open(ctx, sqlite.Config{Path: strings.TrimPrefix(dsn, "sqlite:")})
	if err != nil {
		return nil, err
	}
	return &opened{Store: s, close: func() { _ = s.Close() }}, nil
}

func sqliteTables(string) (string, error) { return sqlite.MigrationSQL(), nil }

// openPostgres also finds out whether the server answers. Tables that are up to
// date are left alone, so that a role that may not make any will do.
func openPostgres(ctx context.Context, dsn string) (*opened, error) {
	s, err := postgresStore(ctx, dsn)
	if err != nil {
		return nil, err
	}
	err = s.CheckSchema(ctx)
	if old, ok := errors.AsType[*postgres.SchemaError](err); ok && old.Have < old.Want {
		err = s.Migrate(ctx)
	}
	if err != nil {
		s.Close()
		return nil, err
	}
	return &opened{Store: s, close: s.Close}, nil
}

func postgresTables(dsn string) (string, error) {
	s, err := postgresStore(context.Background(), dsn) // connects with the first call, and there is none
	if err != nil {
		return "", err
	}
	defer s.Close()
	return s.MigrationSQL()
}

// postgresStore takes our own parameter, schema, out of the URL.
func postgresStore(ctx context.Context, dsn string) (*postgres.Store, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return nil, errors.New("the address is no URL") // the error would quote it
	}
	q := u.Query()
	schema := q.Get("schema")
	if schema != "" {
		q.Del("schema")
		u.RawQuery = q.Encode()
	}
	return postgres.Open(ctx, postgres.Config{URL: u.String(), Schema: schema})
}
