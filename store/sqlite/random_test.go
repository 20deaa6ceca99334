package sqlite_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"backwave/store"
	"backwave/store/sqlite"
	"backwave/store/storetest"
)

func TestRandomOperationsAgreeWithMemory(t *testing.T) {
	dir, files := t.TempDir(), 0
	storetest.RunRandom(t, func(rt *rapid.T, clock *storetest.Clock) (storetest.Harness, func()) {
		files++
		path := filepath.Join(dir, fmt.Sprintf("%d.db", files))
		s := must(sqlite.Open(rt.Context(), sqlite.Config{Path: path, Synchronous: sqlite.Normal, Clock: clock.Now}))
		return storetest.Harness{Store: s, HoldsAll: true, Audits: func() []store.Audit { return must(s.Audits(rt.Context())) }}, func() {
			check(t, s.Close())
			check(t, os.Remove(path))
		}
	})
}
