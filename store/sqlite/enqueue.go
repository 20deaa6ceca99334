package sqlite

import (
	"context"

	"backwave/store"
	"backwave/store/rules"
)

// Enqueue implements store.Enqueuer.
func (s *Store) Enqueue(ctx context.Context, r *store.Enqueue) (*store.Enqueued, error) {
	if err := store.Validate(r); err != nil {
		return nil, err
	}
	var out *store.Enqueued
	err := s.write(ctx, "enqueue", false, func(c *call) (err error) {
		out, err = c.enqueueAll(r)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (c *call) enqueueAll(r *store.Enqueue) (*store.Enqueued, error) {
	out := &store.Enqueued{At: c.now}
	for i := range r.Jobs {
		a, err := c.enqueue(&r.Jobs[i])
		if err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, a)
	}
	return out, nil
}

// enqueue tries to add the job and only then looks for what was in its way.
func (c *call) enqueue(n *store.NewJob) (store.EnqueueAnswer, error) {
	j := rules.New(n, c.now)
	var key any
	if j.UniqueKey != "" {
		key = j.UniqueKey
	}
	done, err := c.exec(`INSERT INTO backwave_job (id, name, queue, max_attempts, unique_key, state, due, enqueued)
		VALUES (?, ?, ?, ?, ?, 1, ?, ?) ON CONFLICT DO NOTHING`,
		j.ID[:], j.Name, j.Queue, int64(j.MaxAttempts), key, int64(j.Due), int64(j.Enqueued))
	if err != nil {
		return store.EnqueueAnswer{}, err
	}
	if rows, err := done.RowsAffected(); err != nil || rows == 0 {
		if err != nil {
			return store.EnqueueAnswer{}, err
		}
		return c.inTheWay(n)
	}
	if j.Payload != nil {
		seq, err := done.LastInsertId()
		if err != nil {
			return store.EnqueueAnswer{}, err
		}
		if _, err := c.exec(`INSERT INTO backwave_payload (seq, payload) VALUES (?, ?)`, seq, j.Payload); err != nil {
			return store.EnqueueAnswer{}, err
		}
	}
	c.wakes(&j)
	return store.EnqueueAnswer{Status: store.EnqueueAdded}, nil
}

// inTheWay tells which job kept another from being added: the same one, else
// the holder of its unique key.
func (c *call) inTheWay(n *store.NewJob) (store.EnqueueAnswer, error) {
	same, err := c.withPayload(`WHERE j.id = ?1`, n.ID[:])
	if err != nil {
		return store.EnqueueAnswer{}, err
	}
	if len(same) > 0 {
		return store.EnqueueAnswer{Status: rules.Again(&same[0], n)}, nil
	}
	holder, err := c.holder(n.UniqueKey)
	return store.EnqueueAnswer{Status: store.EnqueueHeld, Holder: holder}, err
}

// holder returns the live job that has the unique key, or the zero id.
func (c *call) holder(key string) (id store.JobID, err error) {
	err = c.each(func(row []any) error {
		r := rowReader{values: row}
		copy(id[:], r.bytes("id"))
		return nil
	}, `SELECT id FROM backwave_job WHERE unique_key = ?1 AND unique_key IS NOT NULL AND state <= 3`, key)
	return id, err
}
