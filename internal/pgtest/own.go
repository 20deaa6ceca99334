//go:build unix

package pgtest

import (
	"testing"

	"backwave/internal/pgserver"
)

// Own is a throw-away server that one test may harm. It is not for concurrent
// use.
type Own struct {
	t testing.TB
	s *pgserver.Server
}

// NewOwn starts a server for t alone, also when BW_TEST_POSTGRES names one. It
// ends with the test.
func NewOwn(t testing.TB) *Own {
	t.Helper()
	bin, err := pgserver.Binaries(otherwise)
	if err != nil {
		t.Fatal(err)
	}
	s, err := pgserver.Start(bin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return &Own{t: t, s: s}
}

// URL returns the address of the server, which it keeps when it starts again.
func (o *Own) URL() string { return o.s.URL() }

// Stop ends the server and waits until it has ended: fast, which rolls back and
// ends every session in order, or at once, as a crash would.
func (o *Own) Stop(fast bool) {
	o.t.Helper()
	o.must(o.s.Stop(fast))
}

// Start starts a server that was stopped, and waits until it takes connections.
func (o *Own) Start() {
	o.t.Helper()
	o.must(o.s.Start())
}

// Freeze stops every process of the server by SIGSTOP. Connections are neither
// closed nor refused: everything hangs.
func (o *Own) Freeze() {
	o.t.Helper()
	o.t.Cleanup(o.s.Thaw)
	o.must(o.s.Freeze(o.t.Context()))
}

// Thaw lets a frozen server go on. It does nothing to one that is not frozen.
func (o *Own) Thaw() { o.s.Thaw() }

func (o *Own) must(err error) {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
}
