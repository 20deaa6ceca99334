package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"backwave/store"
	"backwave/store/rules"
)

// Claim implements store.Leaser. It is one round trip, unless the worker is new
// or has living leases under the same or a higher number, or finds work after it
// had none and nobody told of it.
func (s *Store) Claim(ctx context.Context, r *store.Claim) (*store.Claimed, error) {
	if err := store.Validate(r); err != nil {
		return nil, err
	}
	before, calm := s.calm.ask(r)
	out, err := s.claim(ctx, s.newClaim(r), calm)
	if err != nil {
		return nil, wrap("claim", err)
	}
	if len(out.Leases) == 0 && (!out.HasNext || out.Next > 0) {
		s.calm.found(r.Worker, before)
	}
	return out, nil
}

func (s *Store) claim(ctx context.Context, c *claim, calm bool) (*store.Claimed, error) {
	if calm {
		out, err := c.look(ctx)
		if err != nil || !out.HasNext || out.Next > 0 {
			return out, err
		}
	}
	for {
		out, err := c.first(ctx)
		if err == nil && out.noWorker {
			// New, or of a time before the database was restored.
			if _, err = s.pool.Exec(ctx, s.stmts.worker, c.r.Worker); err == nil {
				continue
			}
		}
		if err == nil && out.again {
			out, err = c.second(ctx)
		}
		if err != nil {
			return nil, err
		}
		return &out.Claimed, nil
	}
}

// turnWait is how long a claim may wait for its turn, which only another claim
// of the same worker can have. It waits for nothing else.
const turnWait = time.Second

// claim is one call and its parameters.
type claim struct {
	s     *Store
	r     *store.Claim
	names []string
	from  []place // where to begin in each queue
	args  []any
}

// forced is the place of the last parameter of claimSQL.
const forced = 11

func (s *Store) newClaim(r *store.Claim) *claim {
	n := len(r.Queues)
	c := &claim{s: s, r: r, names: make([]string, n), from: make([]place, n)}
	quotas, dues, seqs := make([]int32, n), make([]int64, n), make([]int64, n)
	beyond := false
	for i, q := range r.Queues {
		c.names[i], quotas[i] = q.Queue, int32(min(q.Most, r.Max))
		c.from[i] = s.cursors.start(q.Queue)
		dues[i], seqs[i] = c.from[i].due, c.from[i].seq
		beyond = beyond || q.Most < r.Max
	}
	var named []string
	var terms [][]byte
	standard := store.Policy{}
	if r.Terms != nil {
		standard = r.Terms.Default
		for _, n := range r.Terms.ByName {
			named, terms = append(named, n.Name), append(terms, packPolicy(n.Policy))
		}
	}
	c.args = []any{
		s.now(), r.Worker, int64(r.Number), c.names, quotas, r.Max, r.Lease.Microseconds(),
		packPolicy(standard), named, terms, beyond, false, dues, seqs,
	}
	return c
}

// claimed is an answer in the making.
type claimed struct {
	store.Claimed
	noWorker bool // the worker has no row: nothing was taken
	again    bool // it may have leases under this or a higher number: nothing was taken
}

// taken is a lease with its place in the order of the claim.
type taken struct {
	store.Lease
	round, ord int64
	place
}

func (c *claim) first(ctx context.Context) (*claimed, error) {
	var b pgx.Batch
	out := &claimed{}
	c.turn(&b, 0)
	c.take(&b, out)
	return out, c.s.pool.SendBatch(ctx, &b).Close()
}

// second looks for leases of this number first, and takes only if it finds that
// none of this or a higher number lives.
func (c *claim) second(ctx context.Context) (*claimed, error) {
	tx, err := c.s.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer c.s.rollback(ctx, tx)
	var b pgx.Batch
	var found []*row
	c.turn(&b, frozen)
	b.Queue(c.s.stmts.repeat, c.args[:3]...).Query(func(rows pgx.Rows) (err error) {
		found, err = collect(rows)
		return err
	})
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return nil, err
	}
	out := &claimed{}
	b = pgx.Batch{}
	if len(found) == 0 {
		c.args[forced] = true
		c.take(&b, out)
	} else {
		out.Leases = c.repeated(found)
		c.next(&b, out)
	}
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return nil, err
	}
	out.Leases = slices.DeleteFunc(out.Leases, func(l store.Lease) bool { return l.ExpiresAt <= out.At }) // ended between the statements
	return out, tx.Commit(ctx)
}

// repeated is the answer to a claim that was sent again (C7).
func (c *claim) repeated(found []*row) (leases []store.Lease) {
	slices.SortFunc(found, func(a, b *row) int {
		return cmp.Or(rules.Rank(c.r.Queues, a.Queue)-rules.Rank(c.r.Queues, b.Queue), cmp.Compare(a.Seq, b.Seq))
	})
	for _, f := range found {
		if f.Claim == c.r.Number {
			leases = append(leases, rules.Lease(&f.Job))
		}
	}
	return leases
}

func (c *claim) turn(b *pgx.Batch, idle time.Duration) {
	b.Queue(c.s.stmts.turn, millis(turnWait), millis(idle), "backwave claim "+c.s.schema+" "+c.r.Worker)
}

func (c *claim) take(b *pgx.Batch, out *claimed) {
	b.Queue(c.s.stmts.claim, c.args...).Query(func(rows pgx.Rows) error { return c.scan(rows, out) })
	c.next(b, out)
}

// look answers when a job of the queues is due, and takes none.
func (c *claim) look(ctx context.Context) (*store.Claimed, error) {
	out := &store.Claimed{}
	return out, scanNext(c.s.pool.QueryRow(ctx, c.s.stmts.next, c.args[0], c.names), out)
}

func (c *claim) next(b *pgx.Batch, out *claimed) {
	b.Queue(c.s.stmts.next, c.args[0], c.names).QueryRow(func(row pgx.Row) error { return scanNext(row, &out.Claimed) })
}

func scanNext(row pgx.Row, out *store.Claimed) error {
	var now store.Instant
	var due *int64
	if err := row.Scan(&now, &due); err != nil {
		return err
	}
	if out.At == 0 { // nothing was to be taken: this is the instant of the answer
		out.At = now
	}
	if due != nil {
		out.HasNext = true
		if at := store.Instant(*due); at > now {
			out.Next = at.Sub(now)
		}
	}
	return nil
}

func (c *claim) scan(rows pgx.Rows, out *claimed) error {
	defer rows.Close()
	var (
		all                  []taken
		t                    taken
		hasWorker            bool
		round, ord, due, seq pgtype.Int8
		id                   pgtype.UUID
		attempt, base        pgtype.Int4
		name                 pgtype.Text
		hist, payload        []byte
		took                 int64
		into                 = []any{&out.At, &hasWorker, &out.again, &round, &ord, &due, &seq, &id, &attempt, &name, &base, &hist, &payload, &took}
	)
	for rows.Next() {
		if err := rows.Scan(into...); err != nil { // the first column is the instant that leases are counted from
			return err
		}
		out.noWorker = !hasWorker
		if !id.Valid {
			continue
		}
		t.round, t.ord, t.place = round.Int64, ord.Int64, place{due.Int64, seq.Int64}
		t.Lease = store.Lease{
			Key:  store.LeaseKey{Job: id.Bytes, Attempt: int(attempt.Int32), Claim: c.r.Number},
			Name: name.String, Queue: c.names[t.ord-1], Base: int(base.Int32), ExpiresAt: out.At.Add(c.r.Lease.Truncate(time.Microsecond)),
		}
		t.Payload, t.Damage = unpackPayload(payload)
		if h, err := unpackHistory(hist); err != nil || len(h.lost) > 0 {
			t.Payload, t.Damage = nil, firstOf(t.Damage, errHistory.Error())
		}
		all = append(all, t)
	}
	slices.SortFunc(all, func(a, b taken) int {
		return cmp.Or(cmp.Compare(a.round, b.round), cmp.Compare(a.ord, b.ord), cmp.Compare(a.due, b.due), cmp.Compare(a.seq, b.seq))
	})
	out.Leases = slices.Grow(out.Leases, len(all))
	for i := range all {
		out.Leases = append(out.Leases, all[i].Lease)
	}
	c.moved(all, time.Duration(took)*time.Microsecond)
	return rows.Err()
}

// moved tells the cursors how far this claim came.
func (c *claim) moved(all []taken, took time.Duration) {
	last := slices.Clone(c.from)
	got := make([]int, len(last))
	for i := range all {
		k := all[i].ord - 1
		if got[k]++; last[k].before(all[i].place) {
			last[k] = all[i].place
		}
	}
	full := len(all) == c.r.Max
	for k, q := range c.names {
		if got[k] > 0 || !full {
			c.s.cursors.moved(q, c.from[k], last[k], len(all), took, full)
		}
	}
}

// collect reads all rows of one of the two shapes.
func collect(rows pgx.Rows) (out []*row, err error) {
	defer rows.Close()
	for rows.Next() {
		r, err := scanRow(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, rows.Err()
}
