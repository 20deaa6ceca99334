package sqlite

import (
	"context"
	"database/sql"
	"slices"

	"backwave/clockx"
)

type hinter struct{ hint func(queue string) }

// Hints implements store.Hinter. Commits of this process are told at once;
// those of others when the poll sees them, if they added jobs. A call of hint
// may still be under way when stop returns.
func (s *Store) Hints(hint func(queue string)) (stop func()) {
	h := &hinter{hint}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hints = append(slices.Clip(s.hints), h)
	if s.stop == nil && !s.closed {
		ctx, cancel := context.WithCancel(context.Background())
		s.stop = cancel
		go s.listen(ctx)
	}
	return func() { s.unlisten(h) }
}

func (s *Store) unlisten(h *hinter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hints = slices.DeleteFunc(slices.Clone(s.hints), func(o *hinter) bool { return o == h })
	if len(s.hints) == 0 && s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

// hint tells everybody who listens of the queues.
func (s *Store) hint(queues []string) {
	if len(queues) == 0 {
		return
	}
	s.mu.Lock()
	hints := s.hints
	s.mu.Unlock()
	for _, q := range queues {
		for _, h := range hints {
			h.hint(q)
		}
	}
}

// listen looks for jobs that other processes add, until ctx ends. A fault
// costs hints only: it begins anew with the next poll.
func (s *Store) listen(ctx context.Context) {
	w := &watcher{reads: s.reads}
	defer w.close()
	for clockx.Sleep(ctx, s.waits, s.poll) == nil {
		queues, err := w.look(ctx)
		if err != nil {
			w.close()
			continue
		}
		s.hint(queues)
	}
}

// watcher is a connection that notices commits of others.
type watcher struct {
	reads   *sql.DB
	conn    *sql.Conn // nil at first and after a fault
	version int64     // PRAGMA data_version when it last looked
	seq     int64     // of the newest job it has seen
}

// look returns the queues that have got jobs since it was last called, if they
// can be claimed; the first time, since ever. Of a flood it reads the newest
// thousand.
func (w *watcher) look(ctx context.Context) (queues []string, err error) {
	fresh := w.conn == nil
	if fresh {
		if w.conn, err = w.reads.Conn(ctx); err != nil {
			return nil, err
		}
	}
	version := w.version
	if err := w.conn.QueryRowContext(ctx, `PRAGMA data_version`).Scan(&w.version); err != nil {
		return nil, err
	}
	if !fresh && version == w.version {
		return nil, nil
	}
	seq := w.seq
	if err := w.conn.QueryRowContext(ctx, `SELECT coalesce(max(seq), 0) FROM backwave_job`).Scan(&w.seq); err != nil {
		return nil, err
	}
	if seq == w.seq {
		return nil, nil
	}
	rows, err := w.conn.QueryContext(ctx, `SELECT DISTINCT queue FROM backwave_job WHERE seq > max(?1, ?2 - 1000) AND seq <= ?2
		AND state = 1 AND due <= unixepoch('subsec') * 1000000`, seq, w.seq)
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err tells
	for rows.Next() {
		var q string
		if err := rows.Scan(&q); err != nil {
			return nil, err
		}
		queues = append(queues, q)
	}
	return queues, rows.Err()
}

func (w *watcher) close() {
	if w.conn != nil {
		discard(w.conn)
		w.conn = nil
	}
}
