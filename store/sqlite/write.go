package sqlite

import (
	"context"
	"errors"
	"time"

	"backwave/clockx"
	"backwave/store"
)

// call is one contract call within its transaction.
type call struct {
	*session
	now   store.Instant
	woken []string // queues in which it made work due
}

// write carries out one call in a transaction of its own.
func (s *Store) write(ctx context.Context, op string, urgent bool, do func(*call) error) error {
	err := s.acquire(ctx, urgent, s.busy, func() error { return s.begin(ctx) })
	if err != nil {
		return wrap(op, err)
	}
	c := &call{session: s.writer}
	if err = s.finish(ctx, c, do); err != nil {
		s.drop()
	}
	s.gate.leave()
	if err != nil {
		return wrap(op, err)
	}
	s.hint(c.woken)
	return nil
}

// finish does the work and commits. A call nobody waits for any more is not
// committed.
func (s *Store) finish(ctx context.Context, c *call, do func(*call) error) (err error) {
	if c.now, err = s.read(c.session); err != nil {
		return err
	}
	if err = do(c); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	_, err = c.exec(`COMMIT`)
	return err
}

// acquire enters the gate and takes the file's write lock by begin. While
// another process has the lock it leaves the gate between two tries, so that
// an urgent call can overtake, and after limit it gives up.
func (s *Store) acquire(ctx context.Context, urgent bool, limit time.Duration, begin func() error) error {
	nap, waited := 500*time.Microsecond, time.Duration(0)
	for {
		if err := s.gate.enter(ctx, urgent); err != nil {
			return err
		}
		err := begin()
		if err == nil {
			return nil
		}
		s.gate.leave()
		if faultOf(err) != store.FaultBusy || waited >= limit {
			return err
		}
		if err := clockx.Sleep(ctx, s.waits, nap); err != nil {
			return err
		}
		waited += nap
		if !urgent {
			nap = min(2*nap, 8*time.Millisecond)
		}
	}
}

// begin takes the write lock on the writing connection, which it opens if
// there is none.
func (s *Store) begin(ctx context.Context) error {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	switch {
	case closed:
		return errClosed
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	if s.writer == nil {
		c, err := s.connector.Connect(ctx)
		if err != nil {
			return err
		}
		s.writer = onConn(c)
	}
	_, err := s.writer.exec(`BEGIN IMMEDIATE`)
	if err != nil && faultOf(err) != store.FaultBusy {
		s.drop()
	}
	return err
}

// drop rolls back and gives the writing connection up: whatever state a fault
// left it in, the next call starts with a fresh one.
func (s *Store) drop() {
	if s.writer == nil {
		return
	}
	s.writer.close()
	s.writer = nil
}

// read makes the call's one reading of the clock. The caller has the lock.
func (s *Store) read(on *session) (now store.Instant, err error) {
	if s.clock != nil {
		return s.clock(), nil
	}
	us, found, err := on.number(`SELECT CAST(round(unixepoch('subsec') * 1000) AS INTEGER) * 1000`)
	if err == nil && !found {
		err = errors.New("the database has no clock")
	}
	return store.Instant(us), err
}

// wakes notes that a job may be claimed at once.
func (c *call) wakes(j *store.Job) {
	if j.State != store.Scheduled || j.Due > c.now {
		return
	}
	for _, q := range c.woken {
		if q == j.Queue {
			return
		}
	}
	c.woken = append(c.woken, j.Queue)
}
