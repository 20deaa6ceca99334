package postgres

import (
	"cmp"
	"slices"

	"github.com/jackc/pgx/v5"

	"backwave/store"
)

// reach is a range of the order in which the jobs of one queue are claimed.
type reach struct {
	queue  string
	qid    int32
	lo, hi place
}

// reaches lie apart from each other, so that no job is looked at twice: workers
// that claim side by side have rows of the directory with much the same range.
type reaches []reach

// collectReaches reads rows of the directory: their ids, and what they reach
// together, the queues in the order of the request, others by their names.
func collectReaches(rows pgx.Rows, r *store.Sweep) (dirs []int64, out reaches, err error) {
	var did int64
	var x reach
	_, err = pgx.ForEachRow(rows, []any{&did, &x.queue, &x.qid, &x.lo.due, &x.lo.seq, &x.hi.due, &x.hi.seq}, func() error {
		dirs, out = append(dirs, did), append(out, x)
		return nil
	})
	return dirs, out.apart(r.Queues), err
}

// apart joins what overlaps.
func (l reaches) apart(queues []string) (out reaches) {
	rank := map[string]int{}
	for i, q := range queues {
		rank[q] = i - len(queues)
	}
	slices.SortFunc(l, func(a, b reach) int {
		return cmp.Or(cmp.Compare(rank[a.queue], rank[b.queue]), cmp.Compare(a.queue, b.queue), cmp.Compare(a.lo.due, b.lo.due), cmp.Compare(a.lo.seq, b.lo.seq))
	})
	for _, x := range l {
		if n := len(out); n > 0 && out[n-1].qid == x.qid && !out[n-1].hi.before(x.lo) {
			if out[n-1].hi.before(x.hi) {
				out[n-1].hi = x.hi
			}
			continue
		}
		out = append(out, x)
	}
	return out
}

// columns are the parameters of a statement over reaches.
func (l reaches) columns() []any {
	qids := make([]int32, len(l))
	var at [4][]int64
	for i, x := range l {
		qids[i] = x.qid
		for k, v := range []int64{x.lo.due, x.lo.seq, x.hi.due, x.hi.seq} {
			at[k] = append(at[k], v)
		}
	}
	return []any{qids, at[0], at[1], at[2], at[3]}
}
