package history

import (
	"cmp"
	"errors"
	"slices"
)

// Merge puts what several processes recorded into one history, by the times of
// the records, which must come from clocks that agree. At equal times sends
// come first and answers last: calls then overlap rather than follow each
// other, so no order is claimed that nobody saw. Calls are numbered anew. What
// only a world knows is left out.
func Merge(logs ...*Log) *Log {
	type entry struct {
		Record
		log int
	}
	var all []entry
	for i, l := range logs {
		for _, r := range l.Records() {
			if r.Kind == Sent || r.Kind == Answered || r.Kind == Failed {
				all = append(all, entry{r, i})
			}
		}
	}
	last := func(e entry) int {
		if e.Kind == Sent {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b entry) int { return cmp.Or(cmp.Compare(a.At, b.At), last(a)-last(b)) })
	out := NewLog()
	out.KeepIdle = true
	type name struct {
		log  int
		call uint64
	}
	calls := map[name]uint64{}
	for _, e := range all {
		n := name{e.log, e.Call}
		switch e.Kind {
		case Sent:
			calls[n] = uint64(len(calls) + 1)
			out.Sent(e.At, calls[n], e.Client, e.Req)
		case Answered:
			out.Answered(e.At, calls[n], e.Reply)
		case Failed:
			out.failed(e.At, calls[n], e.Record)
		case Applied, Lost, Doubled, Forgot, Stepped:
		}
	}
	return out
}

// failed notes a failure as it was recorded.
func (l *Log) failed(at int64, call uint64, was Record) {
	l.Failed(at, call, errors.New(was.Err))
	r := &l.records[len(l.records)-1]
	r.Fault, r.Refused = was.Fault, was.Refused
}
