package checker

import (
	"slices"
	"strings"
	"testing"

	"backwave/history"
	"backwave/store"
)

// completed is what a handler's transaction leaves in a history: nothing, until
// its engine reports that it knows of no commit.
func completed(p *tape) {
	p.begin()
	p.seen(report("n1", 1, 1, store.Failure{}), already(5, store.EndSuccess))
}

// seen is a call of which only its client knows.
func (p *tape) seen(q store.Request, r store.Reply) { p.answered(p.send(q), r) }

// Each of these is legal if handlers may complete in transactions, and illegal
// if they may not.
func TestCompletionsAreNoCalls(t *testing.T) {
	for _, c := range []struct {
		name string
		tell func(p *tape)
	}{
		{"the worker's report says so", completed},
		{"it says so twice", func(p *tape) {
			completed(p)
			p.seen(report("n1", 1, 1, store.Failure{}), already(6, store.EndSuccess))
		}},
		{"in a later attempt", func(p *tape) {
			p.begin()
			p.seen(sweep, swept(61, 61))
			p.seen(claim("n2", 1), claimed(63, lease(2, 1, 63, 0)))
			p.seen(report("n2", 2, 1, store.Failure{}), already(64, store.EndSuccess))
			p.seen(report("n1", 1, 1, store.Failure{}), stale(65))
		}},
		{"its worker died, and the job cannot be cancelled", func(p *tape) {
			p.begin()
			p.seen(do("r", cancel1), done(100, store.DoRefused))
		}},
		{"a renewal from before it is refused", func(p *tape) {
			p.begin()
			p.seen(renew(1), lostLease(5))
			p.seen(report("n1", 1, 1, store.Failure{}), already(6, store.EndSuccess))
		}},
		{"it wins over a cancel", func(p *tape) {
			p.begin()
			p.seen(do("r", cancel1), done(2, store.DoChanged))
			p.seen(report("n1", 1, 1, store.Failure{}), already(6, store.EndSuccess))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newTape()
			c.tell(p)
			if got := CheckLinear(p.log, LinearOptions{Completions: true}); got.BlackBox != Held || got.Bounded != Held || got.NotAttempted > 0 {
				t.Errorf("got %+v", got)
			}
			if got := CheckLinear(p.log, LinearOptions{}); got.BlackBox != Violated {
				t.Errorf("without completions: %+v", got)
			}
		})
	}
}

// What no completion explains stays a violation.
func TestCompletionsExplainNoMore(t *testing.T) {
	for _, c := range []struct {
		name, says string
		tell       func(p *tape)
	}{
		{"the job runs again", "was told already-applied", func(p *tape) {
			p.begin()
			p.seen(sweep, swept(61, 61))
			p.seen(claim("n2", 1), claimed(63, lease(2, 1, 63, 0)))
			p.seen(report("n1", 1, 1, store.Failure{}), already(64, store.EndSuccess))
		}},
		{"the lease lapses after it", "ended as success", func(p *tape) {
			completed(p)
			p.seen(sweep, swept(61, 61))
		}},
		{"another worker is told of it", "was told already-applied", func(p *tape) {
			p.begin()
			p.seen(report("n2", 1, 1, store.Failure{}), already(5, store.EndSuccess))
		}},
		{"it is told to have failed", "was told already-applied", func(p *tape) {
			p.begin()
			p.seen(report("n1", 1, 1, store.Failure{}), already(5, store.EndFailure))
		}},
		{"it succeeds twice", "ended as success", func(p *tape) {
			completed(p)
			p.seen(report("n1", 1, 1, store.Failure{}), applied(6, store.Scheduled))
		}},
		{"before anyone has claimed it", "was told already-applied", func(p *tape) {
			p.seen(enqueue(1), added(0))
			p.seen(report("n1", 1, 1, store.Failure{}), already(1, store.EndSuccess))
		}},
		{"its worker reports success itself", "was told already-applied", func(p *tape) {
			p.begin()
			p.seen(report("n1", 1, 1, store.Success{}), already(5, store.EndSuccess))
		}},
		{"a living lease is lost, and its worker reports success", "was told lost", func(p *tape) {
			p.begin()
			p.seen(renew(1), lostLease(5))
			p.send(report("n1", 1, 1, store.Success{}))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newTape()
			c.tell(p)
			got := CheckLinear(p.log, LinearOptions{Completions: true})
			if got.BlackBox != Violated || len(got.Findings) == 0 || !strings.Contains(got.Findings[0].Message, c.says) {
				t.Errorf("got %+v, want a finding that says %q", got, c.says)
			}
		})
	}
}

// completes reports whether the handlers of a random world record a success in
// a transaction of theirs where its worker would have reported q: half of the
// jobs do, for most outcomes, so that it happens often.
func completes(q store.Request) bool {
	r, ok := q.(*store.Report)
	if !ok || r.Rows[0].Key.Job[15]%2 > 0 {
		return false
	}
	return slices.Contains([]store.EndKind{store.EndSuccess, store.EndDiscard, store.EndSnooze, store.EndRelease, store.EndUndecodable}, r.Rows[0].Outcome.Kind())
}

// withOutcome is a report of one row with another outcome.
func withOutcome(q store.Request, o store.Outcome) store.Request {
	r := *q.(*store.Report)
	r.Rows = []store.ReportRow{{Key: r.Rows[0].Key, Outcome: o}}
	return &r
}

// completingHistory is what clients saw of a random world with such handlers. A
// worker that has completed reports a failure and is told of the success, or is
// killed before it can.
func completingHistory(bug string, seed uint64, steps int) *history.Log {
	s := newRef(bug)
	draw := seeded(seed)
	h := worldOver(func(q store.Request) store.Reply {
		if completes(q) {
			q = withOutcome(q, store.Success{})
		}
		return s.apply(q)
	}, &s.now, draw).run(steps)
	out := history.NewLog()
	out.KeepIdle = true
	reports, killed := map[uint64]bool{}, map[uint64]bool{}
	for _, r := range h.Records() {
		if r.Kind == history.Sent && completes(r.Req) {
			reports[r.Call], killed[r.Call] = true, draw(3) == 0
			r.Req = withOutcome(r.Req, store.Failure{Error: "completion not committed"})
		}
		if killed[r.Call] {
			continue
		}
		switch r.Kind {
		case history.Sent:
			out.Sent(r.At, r.Call, r.Client, r.Req)
		case history.Answered:
			if p, ok := r.Reply.(*store.Reported); ok && reports[r.Call] && p.Rows[0].Status == store.ReportApplied {
				r.Reply = &store.Reported{At: p.At, Rows: []store.ReportAnswer{{Status: store.ReportAlready, Already: store.EndSuccess}}}
			}
			out.Answered(r.At, r.Call, r.Reply)
		case history.Doubled:
			out.Doubled(r.At, r.Call)
		case history.Failed, history.Applied, history.Lost, history.Forgot, history.Stepped:
		}
	}
	return out
}

// A store that keeps its promises is never called a liar for what handlers
// record in transactions; without the option it is.
func TestLinearHoldsWithCompletions(t *testing.T) {
	undecided, needed := 0, 0
	for seed := range uint64(600) {
		h := completingHistory("", seed, int(100+seed%200))
		got := CheckLinear(h, LinearOptions{Completions: true})
		undecided += got.Undecided
		if got.BlackBox == Violated || got.Bounded == Violated {
			t.Fatalf("seed %d: %v\n%s", seed, got.Findings, tellAll(h, got))
		}
		if CheckLinear(h, LinearOptions{}).BlackBox == Violated {
			needed++
		}
	}
	if undecided > 3 || needed < 20 {
		t.Errorf("too many, or too few")
	}
	t.Logf("%d jobs undecided, completions were needed in %d histories", undecided, needed)
}

// What completions may explain hides few of the planted bugs.
func TestCompletionsHideFewBugs(t *testing.T) {
	found, all := 0, 0
	for _, bug := range refBugs {
		for seed := range uint64(60) {
			if CheckLinear(completingHistory(bug, seed, 300), LinearOptions{Completions: true}).BlackBox == Violated {
				found++
			}
			if CheckLinear(newWorld(bug, seeded(seed)).run(300), LinearOptions{}).BlackBox == Violated {
				all++
			}
		}
	}
	t.Logf("%d histories violated with completions, %d without", found, all)
	if found*10 < all*9 {
		t.Errorf("too many are hidden")
	}
}
