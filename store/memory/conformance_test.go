package memory_test

import (
	"testing"

	"backwave/store"
	"backwave/store/memory"
	"backwave/store/storetest"
)

func TestContract(t *testing.T) {
	storetest.Run(t, func(_ *testing.T, clock *storetest.Clock) storetest.Harness {
		s := memory.New(clock)
		l := memory.NewLocked(s)
		return storetest.Harness{
			Store: l,
			Hold: func(id store.JobID) func() {
				s.Hold(id)
				return func() { s.Unhold(id) }
			},
			Damage: s.Damage,
			Audits: l.Audits,
		}
	})
}
