package memory

import (
	"cmp"
	"slices"

	"backwave/store"
	"backwave/store/rules"
)

func (s *Store) claim(now store.Instant, c *store.Claim) *store.Claimed {
	out := &store.Claimed{At: now}
	s.list(c.Queues)
	if !s.repeat(now, c, out) {
		s.takeAll(now, c, out)
	}
	for _, q := range s.listed {
		if q < 0 || s.queues[q].paused || len(s.queues[q].waiting) == 0 {
			continue
		}
		due := s.places[s.queues[q].waiting[0]].key
		if next := max(0, due.Sub(now)); !out.HasNext || next < out.Next {
			out.HasNext, out.Next = true, next
		}
	}
	return out
}

// list looks the queues of a call up once; -1 stands for one never seen.
func (s *Store) list(queues []store.Quota) {
	s.listed = s.listed[:0]
	for i := range queues {
		q, ok := s.queueOf[queues[i].Queue]
		if !ok {
			q = -1
		}
		s.listed = append(s.listed, q)
	}
}

// repeat reports whether the claim must take nothing: its number, or a higher
// one, has a lease that lives. The leases of its own number are answered again.
func (s *Store) repeat(now store.Instant, c *store.Claim, out *store.Claimed) (stop bool) {
	w, ok := s.workerOf[c.Worker]
	if !ok || s.workers[w].top < c.Number {
		return false
	}
	s.aside = s.aside[:0]
	for _, slot := range s.workers[w].leases {
		j := &s.rows[slot]
		if j.LeaseUntil <= now || j.Claim < c.Number {
			continue
		}
		stop = true
		if j.Claim == c.Number {
			s.aside = append(s.aside, slot)
		}
	}
	slices.SortStableFunc(s.aside, func(a, b int32) int {
		return cmp.Or(rules.Rank(c.Queues, s.rows[a].Queue)-rules.Rank(c.Queues, s.rows[b].Queue), int(a)-int(b))
	})
	for _, slot := range s.aside {
		out.Leases = append(out.Leases, rules.Lease(&s.rows[slot]))
	}
	return stop
}

// takeAll takes what the quotas allow, queue by queue, and then what is still
// wanted in the same order.
func (s *Store) takeAll(now store.Instant, c *store.Claim, out *store.Claimed) {
	s.aside = s.aside[:0]
	for i, q := range s.listed {
		s.take(now, c, q, min(c.Queues[i].Most, c.Max-len(out.Leases)), out)
	}
	for _, q := range s.listed {
		s.take(now, c, q, c.Max-len(out.Leases), out)
	}
	for _, slot := range s.aside {
		s.push(&s.queues[s.places[slot].queue].waiting, slot)
	}
}

// take leases at most most jobs of queue q, in order of due and sequence. Held
// rows are put aside.
func (s *Store) take(now store.Instant, c *store.Claim, q int32, most int, out *store.Claimed) {
	if q < 0 || s.queues[q].paused {
		return
	}
	for most > 0 {
		waiting := &s.queues[q].waiting
		if len(*waiting) == 0 || s.places[(*waiting)[0]].key > now {
			return
		}
		slot := (*waiting)[0]
		if s.busy(s.rows[slot].ID) {
			s.remove(waiting, slot)
			s.aside = append(s.aside, slot)
			continue
		}
		out.Leases = append(out.Leases, s.grant(now, c, slot))
		most--
	}
}

// grant starts the next attempt of a row.
func (s *Store) grant(now store.Instant, c *store.Claim, slot int32) store.Lease {
	j := s.change(slot)
	rules.Grant(j, c, now)
	s.stamped = max(s.stamped, now)
	s.settle(slot)
	return rules.Lease(j)
}
