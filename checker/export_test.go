package checker

import (
	"backwave/history"
	"backwave/store"
)

// RandomHistory runs n random steps of clients and a bad network over a store
// whose clock is now. The choices follow from seed.
func RandomHistory(apply func(store.Request) store.Reply, now *store.Instant, seed uint64, n int) *history.Log {
	return worldOver(apply, now, seeded(seed)).run(n)
}
