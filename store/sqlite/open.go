package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"time"

	"modernc.org/sqlite"

	"backwave/clockx"
	"backwave/store"
)

var (
	_ store.Store  = (*Store)(nil)
	_ store.Hinter = (*Store)(nil)
)

// Synchronous says what of the last commits a power cut may take. A process
// that is killed loses nothing that was acknowledged, with either.
type Synchronous uint8

// The settings of Synchronous.
const (
	Full   Synchronous = iota // every commit is on the disk before it is answered
	Normal                    // commits since the last checkpoint may be lost, the file stays sound
)

// Config describes a store. A zero field means its default.
type Config struct {
	Path        string               // of the file, made if there is none; its folder must exist; no default
	Synchronous Synchronous          // default Full
	BusyTimeout time.Duration        // how long a call waits for another process's write before it answers FaultBusy; default 250ms
	HintPoll    time.Duration        // how often other processes' commits are looked for while somebody listens; default 5ms
	Clock       func() store.Instant // replaces the database's clock, for tests; default nil
}

// Store is an open file. It is safe for concurrent use.
type Store struct {
	busy  time.Duration
	poll  time.Duration
	clock func() store.Instant
	waits clockx.Clock

	gate      gate
	writer    *session // used by whoever is in the gate; nil before its first use and after a fault
	connector driver.Connector
	db        *sql.DB // for transactions of handlers and clients
	reads     *sql.DB

	mu     sync.Mutex
	hints  []*hinter // replaced, never written, so that it can be walked unlocked
	stop   func()    // ends the poll; nil while nobody listens
	closed bool
}

// Open opens the file, creates it and its tables if they are missing, and
// refuses, with a *SchemaError, one of a newer version with which this one cannot
// work. ctx bounds the opening only.
func Open(ctx context.Context, c Config) (*Store, error) {
	if c.Path == "" || c.BusyTimeout < 0 || c.HintPoll < 0 || c.Synchronous > Normal {
		return nil, fmt.Errorf("sqlite: config %+v: want a path, a known Synchronous and no negative durations", c)
	}
	s := &Store{busy: c.BusyTimeout, poll: c.HintPoll, clock: c.Clock, waits: clockx.Wall{}}
	if s.busy == 0 {
		s.busy = 250 * time.Millisecond
	}
	if s.poll == 0 {
		s.poll = 5 * time.Millisecond
	}
	writing, err := sqlite.NewConnector(dsn(c, false))
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %s: %w", c.Path, err)
	}
	reading, err := sqlite.NewConnector(dsn(c, true))
	if err != nil {
		return nil, fmt.Errorf("sqlite: open %s: %w", c.Path, err)
	}
	s.connector, s.db, s.reads = writing, sql.OpenDB(writing), sql.OpenDB(reading)
	s.db.SetMaxIdleConns(4)
	s.reads.SetMaxOpenConns(4)
	s.reads.SetMaxIdleConns(4)
	if err := s.prepareFile(ctx); err != nil {
		return nil, wrap("open "+c.Path, errors.Join(err, s.Close()))
	}
	return s, nil
}

// dsn names the file and the settings of each of its connections.
func dsn(c Config, readOnly bool) string {
	q := url.Values{"_txlock": {"immediate"}, "_pragma": {"cache_size(-65536)", "temp_store(MEMORY)", "foreign_keys(ON)"}}
	if c.Synchronous == Normal {
		q.Add("_pragma", "synchronous(NORMAL)")
	} else {
		q.Add("_pragma", "synchronous(FULL)")
	}
	if readOnly {
		q.Set("_pragma", "query_only(ON)")
		q.Add("_pragma", "busy_timeout(1000)") // readers wait only while a crashed writer's log is recovered
	}
	return "file:" + (&url.URL{Path: c.Path}).EscapedPath() + "?" + q.Encode()
}

// prepareFile turns the file to WAL and migrates it. Processes that start at
// once take turns, and wait longer than for a mere call.
func (s *Store) prepareFile(ctx context.Context) error {
	const patience = 10 * time.Second
	var c *sql.Conn
	err := s.acquire(ctx, false, patience, func() (err error) {
		if c == nil {
			if c, err = s.db.Conn(ctx); err != nil {
				return err
			}
		}
		var mode string
		err = c.QueryRowContext(ctx, `PRAGMA journal_mode = WAL`).Scan(&mode)
		if err == nil && mode != "wal" {
			err = fmt.Errorf("journal mode is %s, want wal", mode)
		}
		return err
	})
	if c != nil {
		defer c.Close() //nolint:errcheck // it goes back to the pool
	}
	if err != nil {
		return err
	}
	s.gate.leave()
	err = s.acquire(ctx, false, patience, func() error {
		_, err := c.ExecContext(ctx, `BEGIN IMMEDIATE`)
		return err
	})
	if err != nil {
		return err
	}
	defer s.gate.leave()
	if err := migrate(ctx, c); err != nil {
		discard(c)
		return err
	}
	_, err = c.ExecContext(ctx, `COMMIT`)
	return err
}

// Close ends the store. Calls under way may answer an error; what they were
// told has happened has. A second Close does nothing.
func (s *Store) Close() error {
	s.mu.Lock()
	again, stop := s.closed, s.stop
	s.closed, s.stop = true, nil
	s.mu.Unlock()
	if again {
		return nil
	}
	if stop != nil {
		stop()
	}
	if err := s.gate.enter(context.Background(), true); err != nil {
		return err
	}
	s.drop()
	s.gate.leave()
	return errors.Join(s.db.Close(), s.reads.Close())
}
