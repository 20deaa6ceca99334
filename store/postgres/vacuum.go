package postgres

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
)

// vacuumEvery is after how many finished jobs of this process the hot table is
// looked at. The server's own vacuum wakes once a minute, in which a busy table
// grows by gigabytes.
const vacuumEvery = 50_000

// vacuumSQL is for a connection of its own, outside of any transaction. Who
// comes second passes over a table that is being vacuumed. A role that does not
// own the tables is warned by the server, and nothing is done.
const (
	vacuumSQL = `vacuum (skip_locked, truncate off) {s}.job, {s}.lapse`
	sizeSQL   = `select pg_relation_size($1::regclass)`
)

// cleaner vacuums the hot table while it grows under a load of jobs that come
// and go: of a queue that only drains there is nothing to be reused.
type cleaner struct {
	s     *Store
	every int64
	ended context.Context
	end   context.CancelFunc

	finished atomic.Int64 // since the last look
	wait     sync.WaitGroup
	one      sync.Mutex // held by the one who looks
	size     int64      // of the table at the last look; 0: none yet
}

func newCleaner(s *Store) *cleaner {
	c := &cleaner{s: s, every: vacuumEvery}
	c.ended, c.end = context.WithCancel(context.Background())
	return c
}

// count tells that n jobs have left the hot table. It does not wait.
func (c *cleaner) count(n int) {
	if c.finished.Add(int64(n)) < c.every || c.ended.Err() != nil || !c.one.TryLock() {
		return
	}
	c.finished.Store(0)
	c.wait.Go(func() {
		defer c.one.Unlock()
		_ = c.look() // whatever went wrong: the server's own vacuum comes by
	})
}

func (c *cleaner) look() error {
	conn, err := c.s.connect(c.ended)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(c.ended)) }()
	var size int64
	if err := conn.QueryRow(c.ended, sizeSQL, c.s.quoted+".job").Scan(&size); err != nil {
		return err
	}
	grown := c.size > 0 && size > c.size
	c.size = size
	if grown {
		_, err = conn.Exec(c.ended, c.s.sql(vacuumSQL))
	}
	return err
}

// close gives up what is under way.
func (c *cleaner) close() {
	c.end()
	c.wait.Wait()
}

// connect makes a connection outside of the pools, where renewals go.
func (s *Store) connect(ctx context.Context) (*pgx.Conn, error) {
	cfg := s.renewals.Config()
	if cfg.BeforeConnect != nil {
		if err := cfg.BeforeConnect(ctx, cfg.ConnConfig); err != nil {
			return nil, err
		}
	}
	return pgx.ConnectConfig(ctx, cfg.ConnConfig)
}
