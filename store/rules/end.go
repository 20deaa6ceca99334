package rules

import "backwave/store"

// keepEnds is how many ends a job's history keeps at least. Older ones are
// dropped once a repeated report of theirs need not be recognised any more.
const keepEnds = 32

// end ends the running attempt of a row: state, next due instant and history
// change together.
func end(j *store.Job, e ending, now store.Instant) {
	rec := store.End{
		Attempt: j.Attempt, Claim: j.Claim, Worker: j.Worker,
		Kind: e.kind, To: e.to, At: now, Lease: j.LeaseFor, Error: e.text,
	}
	j.State = e.to
	if e.to == store.Scheduled {
		rec.Due = now.Add(e.delay)
		j.Due = rec.Due
		if e.free {
			j.Base++
		}
	} else {
		j.Finished = now
	}
	j.Ends = append(j.Ends, rec)
	trim(j, now)
}

// trim drops the oldest ends over keepEnds, but none younger than twice its
// lease. Older copies of the job look at the same array: nothing in it moves,
// and it is left behind when append next grows it.
func trim(j *store.Job, now store.Instant) {
	n := 0
	for len(j.Ends)-n > keepEnds && now.Sub(j.Ends[n].At) >= 2*j.Ends[n].Lease {
		n++
	}
	j.Ends = j.Ends[n:]
	j.EndsCut += n
}
