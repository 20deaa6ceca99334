package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"backwave/store"
	"backwave/store/memory"
	"backwave/store/postgres"
	"backwave/store/sqlite"
)

// opened is a store that a process may use.
type opened struct {
	store.Store
	local bool   // no other process sees it
	close func() // once
}

// opener opens the store of a DSN.
type opener func(ctx context.Context, dsn string) (*opened, error)

// kinds are the stores that can be named: all that a new one needs is a row.
var kinds = [...]struct {
	prefix string // of the DSN
	form   string // as a person writes it; "" for another spelling of the row before
	needs  bool   // something behind the prefix
	open   opener
	tables func(dsn string) (string, error) // SQL that makes them
}{
	{"sqlite:", "sqlite:FILE", true, openSQLite, sqliteTables},
	{"postgres:", "postgres://…", true, openPostgres, postgresTables},
	{"postgresql:", "", true, openPostgres, postgresTables},
	{"memory:", "memory:", false, openMemory, func(string) (string, error) { return "", nil }},
}

// defaultStore is the store of those who name none.
const defaultStore = "sqlite:backwave.db"

// dsnForms tells which stores can be named.
func dsnForms() string {
	var forms []string
	for _, k := range kinds {
		if k.form != "" {
			forms = append(forms, k.form)
		}
	}
	return orList(forms)
}

// schemas tells the versions of the tables that this program works with.
func schemas() string {
	return fmt.Sprintf("schema: sqlite %d, postgres %d\n", sqlite.SchemaVersion(), postgres.SchemaVersion)
}

// checkDSN refuses what names no store.
func checkDSN(dsn string) error {
	for _, k := range kinds {
		if rest, ok := strings.CutPrefix(dsn, k.prefix); ok {
			if k.needs && rest == "" {
				return fmt.Errorf("the store %q names nothing, want %s", dsn, dsnForms())
			}
			if _, err := url.Parse(dsn); err != nil && strings.HasPrefix(rest, "//") {
				return fmt.Errorf("the store %q is no URL", maskDSN(dsn)) // err would quote all of it
			}
			return nil
		}
	}
	return fmt.Errorf("the store %q is none, want %s", maskDSN(dsn), dsnForms())
}

// openStore opens the store that dsn names, and brings its tables up to date.
func openStore(ctx context.Context, dsn string) (*opened, error) {
	for _, k := range kinds {
		if strings.HasPrefix(dsn, k.prefix) {
			return k.open(ctx, dsn)
		}
	}
	return nil, checkDSN(dsn)
}

func openMemory(context.Context, string) (*opened, error) {
	return &opened{Store: memory.NewLocked(memory.New(wallClock{})), local: true, close: func() {}}, nil
}

// wallClock is the memory store's clock.
type wallClock struct{}

// Now implements memory.Clock.
func (wallClock) Now() store.Instant { return store.At(time.Now()) }

const (
	openTimeout = 10 * time.Second       // of one try
	openPause   = 500 * time.Millisecond // between two
)

// reach opens a store, again and again for as long as wait says, since it may
// not be up yet. The error is an exitError.
func reach(ctx context.Context, open opener, dsn string, wait time.Duration, log *slog.Logger) (*opened, error) {
	if err := checkDSN(dsn); err != nil {
		return nil, &exitError{exitUsage, fmt.Errorf("bwworker: %w", err)}
	}
	limit := time.Now().Add(wait)
	said := ""
	for {
		once, cancel := context.WithTimeout(ctx, openTimeout)
		s, err := open(once, dsn)
		cancel()
		if err == nil {
			return s, nil
		}
		if ctx.Err() != nil || time.Now().Add(openPause).After(limit) {
			return nil, &exitError{exitUnreachable, fmt.Errorf("bwworker: store %s: %w", maskDSN(dsn), err)}
		}
		if text := err.Error(); text != said {
			log.Warn("waiting for the store", "store", maskDSN(dsn), "for", wait, "err", err)
			said = text
		}
		select {
		case <-ctx.Done():
		case <-time.After(openPause):
		}
	}
}
