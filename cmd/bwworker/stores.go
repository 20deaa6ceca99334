package main

import (
	"context"
	"errors"
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
	local  bool   // no other process sees it
	schema int    // version of the tables that this program needs, and the store has
	close  func() // once
}

// target says which store is meant, and how to connect to it.
type target struct {
	dsn      string
	direct   string // PostgreSQL: the server itself, where dsn leads through a pooler; "" = where dsn leads
	noNotify bool   // PostgreSQL: no hints between processes
	pumps    int    // of this process that will use it; 0 = nobody is counted
}

// opener opens a store. A mistake in what it was told is an exitError, which no
// waiting mends.
type opener func(ctx context.Context, t target) (*opened, error)

// kinds are the stores that can be named: all that a new one needs is a row.
var kinds = [...]struct {
	prefix string // of the DSN
	form   string // as a person writes it; "" for another spelling of the row before
	needs  bool   // something behind the prefix
	open   opener
	tables func(t target) (string, error) // SQL that makes them
}{
	{"sqlite:", "sqlite:FILE", true, openSQLite, sqliteTables},
	{"postgres:", "postgres://…", true, openPostgres, postgresTables},
	{"postgresql:", "", true, openPostgres, postgresTables},
	{"memory:", "memory:", false, openMemory, func(target) (string, error) { return "", nil }},
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

// checkDirect refuses what is no address of a PostgreSQL server.
func checkDirect(dsn string) error {
	if !isPostgres(dsn) {
		return fmt.Errorf("the direct store %q is none, want postgres://…", maskDSN(dsn))
	}
	return checkDSN(dsn)
}

func isPostgres(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres:") || strings.HasPrefix(dsn, "postgresql:")
}

// openStore opens a store and brings its tables up to date.
func openStore(ctx context.Context, t target) (*opened, error) {
	if t.direct != "" && !isPostgres(t.dsn) {
		return nil, &exitError{exitUsage, errors.New("a direct store is for PostgreSQL only: leave direct_store and BW_DIRECT_STORE out")}
	}
	for _, k := range kinds {
		if strings.HasPrefix(t.dsn, k.prefix) {
			return k.open(ctx, t)
		}
	}
	return nil, &exitError{exitUsage, checkDSN(t.dsn)}
}

func openMemory(context.Context, target) (*opened, error) {
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
// not be up yet. What does not pass by itself, such as a wrong password, it tells
// at once. The error is an exitError.
func reach(ctx context.Context, open opener, t target, wait time.Duration, log *slog.Logger) (*opened, error) {
	if err := checkDSN(t.dsn); err != nil {
		return nil, &exitError{exitUsage, fmt.Errorf("bwworker: %w", err)}
	}
	limit := time.Now().Add(wait)
	said := ""
	for {
		once, cancel := context.WithTimeout(ctx, openTimeout)
		s, err := open(once, t)
		cancel()
		if err == nil {
			return s, nil
		}
		name := maskDSN(t.dsn)
		if e, ok := errors.AsType[*exitError](err); ok {
			return nil, &exitError{e.code, fmt.Errorf("bwworker: store %s: %w", name, err)}
		}
		if ctx.Err() != nil || !store.FaultOf(err).Transient() || time.Now().Add(openPause).After(limit) {
			return nil, &exitError{exitUnreachable, fmt.Errorf("bwworker: store %s: %w", name, err)}
		}
		if text := err.Error(); text != said {
			log.Warn("waiting for the store", "store", name, "for", wait, "err", err)
			said = text
		}
		select {
		case <-ctx.Done():
		case <-time.After(openPause):
		}
	}
}
