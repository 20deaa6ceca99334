package pump_test

import (
	"strings"
	"testing"
	"time"

	"backwave/engine/pump"
	"backwave/store"
)

var oneQueue = []pump.Queue{{Name: "a"}}

// begin returns a pump whose first claim, op 1, is in flight at time 0.
func begin(cfg pump.Config) *pump.Pump {
	cfg.Queues = oneQueue
	p := pump.New(cfg, "w1", 0)
	p.Step(0, pump.Woken{}, nil)
	return p
}

// leases returns those of jobs 1 to n under claim number 1.
func leases(n int) []store.Lease {
	out := make([]store.Lease, n)
	for i := range out {
		out[i] = store.Lease{Key: store.LeaseKey{Job: jobID(i + 1), Attempt: 1, Claim: 1}, Name: "work", Queue: "a"}
	}
	return out
}

// call returns the first call of a kind.
func call(acts []pump.Action, k pump.Kind) (pump.Call, bool) {
	for _, a := range acts {
		if c, ok := a.(pump.Call); ok && c.Kind == k {
			return c, true
		}
	}
	return pump.Call{}, false
}

func at(d time.Duration) pump.Time { return pump.Time(d) }

// TestBrokenAnswersPanic checks that an answer that fits no request is a broken
// invariant, and that the pump can still be halted in an orderly way after it.
func TestBrokenAnswersPanic(t *testing.T) {
	for _, c := range []struct {
		name string
		now  time.Duration
		kind pump.Kind
		ev   func(pump.Op) pump.Event
	}{
		{"renewal with too few rows", 20 * time.Second, pump.Renewing, func(op pump.Op) pump.Event { return pump.Renewed{Op: op} }},
		{"report with too many rows", 0, pump.Reporting, func(op pump.Op) pump.Event {
			return pump.Reported{Op: op, Rows: make([]store.ReportAnswer, 3)}
		}},
		{"no event at all", 0, pump.Reporting, func(pump.Op) pump.Event { return nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := begin(pump.Config{PoolSize: 2})
			p.Step(0, pump.Claimed{Op: 1, Leases: leases(2)}, nil)
			acts := p.Step(at(c.now), pump.Returned{Key: leases(1)[0].Key, Outcome: store.Success{}}, nil)
			sent, ok := call(acts, c.kind)
			if !ok {
				t.Fatalf("no %v went out: %v", c.kind, acts)
			}
			func() {
				defer func() {
					if v := recover(); v == nil || !strings.HasPrefix(v.(string), "pump: ") {
						t.Errorf("the panic is %v", v)
					}
				}()
				p.Step(at(c.now), c.ev(sent.Op), nil)
			}()
			got := p.Halt(pump.Cause{Type: "string", Message: "panic"}, nil)
			want := []string{"halted string: panic", "cancel j2#1@1 halted"}
			if len(got) != 2 || minute(got[0]) != want[0] || minute(got[1]) != want[1] {
				t.Errorf("Halt did %v, want %q", got, want)
			}
			if !p.Halted() || !p.Ended() || p.Deadline() != pump.Never || len(p.Halt(pump.Cause{}, nil)) != 0 {
				t.Error("the pump is not halted for good")
			}
		})
	}
}

// TestMoreLeasesThanOneRenewalTakes checks that a pump with more leases than a
// request may have rows renews all of them, the due ones first, and never sends
// a request that a store refuses.
func TestMoreLeasesThanOneRenewalTakes(t *testing.T) {
	const n = store.MaxBatch + 700
	p := begin(pump.Config{PoolSize: store.MaxBatch})
	p.Step(0, pump.Claimed{Op: 1, Leases: leases(n)}, nil) // more than asked for: 700 wait to be given back
	renewed := map[store.LeaseKey]bool{}
	acts := p.Step(at(20*time.Second), pump.Woken{}, nil)
	for range 2 {
		c, ok := call(acts, pump.Renewing)
		if !ok {
			t.Fatalf("after %d renewed leases no renewal goes out", len(renewed))
		}
		if err := store.Validate(c.Req); err != nil {
			t.Fatal(err)
		}
		rows := c.Req.(*store.Renew).Rows
		for _, r := range rows {
			renewed[r.Key] = true
		}
		answer := make([]store.RenewAnswer, len(rows))
		for i := range answer {
			answer[i].Status = store.RenewOK
		}
		acts = p.Step(at(21*time.Second), pump.Renewed{Op: c.Op, Rows: answer}, nil)
	}
	if len(renewed) != n {
		t.Errorf("%d leases were renewed, want %d", len(renewed), n)
	}
	if _, ok := call(acts, pump.Renewing); ok {
		t.Error("a third renewal goes out at once")
	}
}

// TestTime checks the ends of the range.
func TestTime(t *testing.T) {
	for _, c := range []struct {
		got, want pump.Time
	}{
		{pump.Never.Add(time.Hour), pump.Never},
		{(pump.Never - 5).Add(4), pump.Never - 1},
		{(pump.Never - 5).Add(6), pump.Never},
		{pump.Time(7).Add(-2), 5},
	} {
		if c.got != c.want {
			t.Errorf("got %d, want %d", c.got, c.want)
		}
	}
	if got := pump.Never.String(); got != "never" {
		t.Errorf("Never prints as %q", got)
	}
	if got := at(time.Minute).Sub(at(time.Second)); got != 59*time.Second {
		t.Errorf("a minute less a second is %v", got)
	}
}

// TestWords checks the words that logs, traces and pages use.
func TestWords(t *testing.T) {
	for i, want := range []string{"renew", "report", "claim", "sweep", "call(4)"} {
		if got := pump.Kind(i).String(); got != want {
			t.Errorf("kind %d is %q, want %q", i, got, want)
		}
	}
	for i, want := range []string{"reason(0)", "cancel-requested", "draining", "lease-lost", "halted", "timed-out"} {
		if got := pump.Reason(i).String(); got != want {
			t.Errorf("reason %d is %q, want %q", i, got, want)
		}
	}
}

// TestIdleCallsAreFew checks that a store which has work that is due, or due in
// no time, and never gives it out, is not asked in a hot loop.
func TestIdleCallsAreFew(t *testing.T) {
	for _, c := range []struct {
		next time.Duration
		most int
	}{{0, 61}, {time.Microsecond, 61 * 64}} {
		p := begin(pump.Config{})
		sum, now := 0, pump.Time(0)
		acts := []pump.Action{pump.Call{Op: 1, Kind: pump.Claiming}}
		for now < at(time.Minute) {
			if sent, ok := call(acts, pump.Claiming); ok {
				sum++
				now = now.Add(time.Millisecond)
				acts = p.Step(now, pump.Claimed{Op: sent.Op, HasNext: true, Next: c.next}, nil)
				continue
			}
			now = max(now, p.Deadline())
			acts = p.Step(now, pump.Woken{}, nil)
		}
		if sum < 60 || sum > c.most {
			t.Errorf("with more due in %v there were %d claims in a minute, want 60 to %d", c.next, sum, c.most)
		}
	}
}
