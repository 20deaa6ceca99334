package postgres

import (
	"context"
	"database/sql"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"backwave/store"
)

// enqueueTxSQL judges row by row, like insertEachSQL, in somebody's transaction.
const (
	enqueueTxSQL = `select ord, at, status, coalesce(holder, '') from {s}.enqueue_tx($1::bigint, $2::text::jsonb) order by ord`
	queueIDsSQL  = `select name, qid from {s}.queue where name = any($1::text[])`
)

// jobRow is one job as enqueue_tx reads it.
type jobRow struct {
	ID      store.JobID `json:"id"`
	Name    string      `json:"name"`
	Queue   int32       `json:"qid"`
	Payload []byte      `json:"payload"`
	At      *int64      `json:"at"`
	Delay   int64       `json:"delay"`
	Most    *int32      `json:"most"`
	Key     *string     `json:"key"`
}

// EnqueueTx adds jobs in a transaction of the caller: they exist if it commits.
// The caller calls wake after the commit, so that they start without waiting for
// a poll; not calling it costs at most that. Until the commit, an enqueue of the
// same ids or unique keys elsewhere answers Busy.
//
// Above READ COMMITTED, a job that was added and finished since the
// transaction's snapshot is not seen as a duplicate.
func (s *Store) EnqueueTx(ctx context.Context, tx pgx.Tx, r *store.Enqueue) (out *store.Enqueued, wake func(), err error) {
	return s.enqueueTx(ctx, r, func(text string, take func(scan func(...any) error) error) error {
		rows, err := tx.Query(ctx, s.stmts.enqueueTx, s.now(), text)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			if err := take(rows.Scan); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// EnqueueSQL is EnqueueTx for a transaction of database/sql, with any driver for
// PostgreSQL.
func (s *Store) EnqueueSQL(ctx context.Context, tx *sql.Tx, r *store.Enqueue) (out *store.Enqueued, wake func(), err error) {
	return s.enqueueTx(ctx, r, func(text string, take func(scan func(...any) error) error) error {
		rows, err := tx.QueryContext(ctx, s.stmts.enqueueTx, s.now(), text)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			if err := take(rows.Scan); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

func (s *Store) enqueueTx(ctx context.Context, r *store.Enqueue, run func(string, func(func(...any) error) error) error) (*store.Enqueued, func(), error) {
	if err := store.Validate(r); err != nil {
		return nil, nil, err
	}
	text, err := s.jobRows(ctx, r)
	if err != nil {
		return nil, nil, wrap("enqueue", err)
	}
	out := &store.Enqueued{}
	if len(r.Jobs) > 0 {
		out.Rows = make([]store.EnqueueAnswer, len(r.Jobs))
	}
	err = run(text, func(scan func(...any) error) error {
		var ord, status int
		var at int64
		var holder string
		if err := scan(&ord, &at, &status, &holder); err != nil {
			return err
		}
		out.At = store.Instant(at)
		a := &out.Rows[ord-1]
		a.Status = store.EnqueueStatus(status)
		if a.Status != store.EnqueueHeld {
			return nil
		}
		a.Holder, err = store.ParseJobID(holder)
		return err
	})
	if err != nil {
		return nil, nil, wrap("enqueue", err)
	}
	return out, func() { s.tellAdded(r, out) }, nil
}

// jobRows is the request as text. Queues get their rows outside of the caller's
// transaction, on which else everybody who uses a new queue would wait; and not
// from the pool, whose last connection may be that transaction's.
func (s *Store) jobRows(ctx context.Context, r *store.Enqueue) (string, error) {
	names := make([]string, len(r.Jobs))
	for i := range r.Jobs {
		names[i] = r.Jobs[i].Queue
	}
	var b pgx.Batch
	ids := map[string]int32{}
	b.Queue(bounded, millis(lockWait), "0")
	b.Queue(s.stmts.queues, names)
	b.Queue(s.stmts.queueIDs, names).Query(func(rows pgx.Rows) error {
		var name string
		var qid int32
		_, err := pgx.ForEachRow(rows, []any{&name, &qid}, func() error {
			ids[name] = qid
			return nil
		})
		return err
	})
	if err := s.renewals.SendBatch(ctx, &b).Close(); err != nil {
		return "", err
	}
	list := make([]jobRow, len(r.Jobs))
	for i := range r.Jobs {
		j := &r.Jobs[i]
		list[i] = jobRow{
			ID: j.ID, Name: j.Name, Queue: ids[j.Queue], Payload: packPayload(j.Payload),
			Delay: store.ClampDuration(j.Delay).Microseconds(), Most: orNull(int32(j.MaxAttempts)), Key: orNull(j.UniqueKey),
		}
		if j.HasAt {
			at := int64(j.At)
			list[i].At = &at
		}
	}
	text, err := json.Marshal(list)
	return string(text), err
}
