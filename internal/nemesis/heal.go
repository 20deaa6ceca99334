//go:build unix

package nemesis

import (
	"context"
	"time"

	"backwave/clockx"
)

// healBound is how long the jobs that are left may take when nothing is harmed
// any more. A lease that was renewed at the last moment has to lapse, and its
// lapse to be swept; calls that hang have to be given up, connections to be made
// anew; then what is left has to be worked off, the failures among it twice. All
// of it three times, and some seconds, since the machine may be busy with other
// things: what is stuck is stuck for ever.
func healBound(left, workers int) time.Duration {
	slots := workers * poolSize
	work := func(jobs int, each time.Duration) time.Duration {
		return each * time.Duration((jobs+slots-1)/slots)
	}
	const (
		taken     = lease + maintenance + lease/6 + time.Second + poll // until the last of it is claimed again
		shortWork = 65 * time.Millisecond
		longWork  = 2 * lease
		again     = 2 * (retryCap + poll)
	)
	once := taken + work(left, shortWork+poll) + work((left+9)/10, longWork) + again
	return (3*once + 5*time.Second).Round(time.Second)
}

// heal waits until every job has ended, or the bound has passed, and returns how
// many are left.
func (r *run) heal(ctx context.Context, s *shop) (left int) {
	began := r.now()
	bound := time.Duration(0)
	for {
		n, err := s.unfinished(ctx)
		if err != nil {
			r.fail(err)
			return n
		}
		past := r.now().Sub(began)
		if n >= 0 && bound == 0 {
			bound = healBound(n, r.cfg.Workers)
			r.report.HealBound = bound
		}
		if n >= 0 {
			left = n
		}
		r.tell("healing", began, bound, n)
		if n == 0 || bound > 0 && past > bound || past > stopWait && bound == 0 || clockx.Sleep(ctx, clockx.Wall{}, tellEvery) != nil {
			r.report.HealTook = past
			return left
		}
	}
}
