package postgres_test

import (
	"testing"

	"pgregory.net/rapid"

	"backwave/store"
	"backwave/store/postgres"
	"backwave/store/storetest"
)

func id(n int) store.JobID { return storetest.ID(n) }

// current is the clock of the list of operations under way.
type current struct{ clock *storetest.Clock }

func (c *current) Now() store.Instant { return c.clock.Now() }

func TestRandomOperationsAgreeWithMemory(t *testing.T) {
	now := &current{}
	w := open(t, postgres.Config{Clock: now, NoNotify: true})
	hand := w.connect()
	damage := func(id store.JobID, why string) {
		note := append([]byte{0}, why...)
		w.exec(hand, "update job set payload = $2 where id = $1", id.String(), note)
		w.exec(hand, "update done set payload = $2 where id = $1", id.String(), note)
	}
	storetest.RunRandom(t, func(_ *rapid.T, clock *storetest.Clock) (storetest.Harness, func()) {
		now.clock = clock
		w.exec(hand, "truncate job, done, worker, lapse, request")
		w.exec(hand, "update queue set paused = false")
		return storetest.Harness{Store: w.Store, Hold: w.hold, Damage: damage, Audits: w.audits}, func() {}
	})
}
