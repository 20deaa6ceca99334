package pump_test

import (
	"testing"
	"time"

	"backwave/engine/pump"
	"backwave/store"
)

// BenchmarkIdlePoll is one poll of an idle pump: a claim and its empty answer.
func BenchmarkIdlePoll(b *testing.B) {
	p := begin(pump.Config{MaintenanceInterval: store.MaxDuration})
	p.Step(0, pump.Claimed{Op: 1}, nil)
	op, now := pump.Op(1), pump.Time(0)
	acts := make([]pump.Action, 0, 8)
	b.ReportAllocs()
	for b.Loop() {
		op, now = op+1, p.Deadline()
		acts = p.Step(now, pump.Woken{}, acts[:0])
		acts = p.Step(now, pump.Claimed{Op: op}, acts[:0])
	}
}

// BenchmarkJob is the life of one job: claim, start, return, report. All other
// slots of the pool are taken.
func BenchmarkJob(b *testing.B) {
	for _, pool := range []struct {
		name string
		size int
	}{{"pool-20", 20}, {"pool-5000", 5000}} {
		b.Run(pool.name, func(b *testing.B) {
			p := begin(pump.Config{PoolSize: pool.size, MaintenanceInterval: store.MaxDuration, LeaseDuration: store.MaxDuration})
			acts := p.Step(0, pump.Claimed{Op: 1, Leases: leases(pool.size - 1), HasNext: true}, nil)
			applied := []store.ReportAnswer{{Status: store.ReportApplied}}
			lease := leases(1)
			lease[0].Key.Job = jobID(1 << 20)
			b.ReportAllocs()
			for b.Loop() {
				c := acts[len(acts)-1].(pump.Call)
				lease[0].Key.Claim = c.Req.(*store.Claim).Number
				acts = p.Step(0, pump.Claimed{Op: c.Op, Leases: lease, HasNext: true}, acts[:0])
				acts = p.Step(0, pump.Returned{Key: lease[0].Key, Outcome: store.Success{}}, acts[:0])
				report, claim := acts[0].(pump.Call), acts[1]
				acts = p.Step(0, pump.Reported{Op: report.Op, Rows: applied}, acts[:0])
				acts = append(acts, claim)
			}
		})
	}
}

// BenchmarkRenew is one renewal of 1000 leases and its answer.
func BenchmarkRenew(b *testing.B) {
	p := begin(pump.Config{PoolSize: 1000, MaintenanceInterval: store.MaxDuration, PollInterval: store.MaxDuration})
	p.Step(0, pump.Claimed{Op: 1, Leases: leases(1000)}, nil)
	rows := make([]store.RenewAnswer, 1000)
	for i := range rows {
		rows[i].Status = store.RenewOK
	}
	now := pump.Time(0)
	acts := make([]pump.Action, 0, 8)
	b.ReportAllocs()
	for b.Loop() {
		now = now.Add(20 * time.Second)
		acts = p.Step(now, pump.Woken{}, acts[:0])
		c := acts[len(acts)-1].(pump.Call)
		acts = p.Step(now, pump.Renewed{Op: c.Op, Rows: rows}, acts[:0])
	}
}
