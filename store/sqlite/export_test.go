package sqlite

import (
	"context"
	"time"
)

// OnWriter runs a statement on the writing connection, which the next fault
// replaces by a fresh one.
func (s *Store) OnWriter(ctx context.Context, query string) error {
	err := s.acquire(ctx, true, time.Second, func() error { return s.begin(ctx) })
	if err != nil {
		return err
	}
	defer s.gate.leave()
	if _, err := s.writer.exec(`ROLLBACK`); err != nil {
		return err
	}
	return s.writer.each(func([]any) error { return nil }, query)
}
