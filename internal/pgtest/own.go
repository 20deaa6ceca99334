//go:build unix

package pgtest

import (
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Own is a throw-away server that one test may harm. It is not for concurrent
// use.
type Own struct {
	t      testing.TB
	s      *server
	frozen []int // processes, the parent of the others first
}

// NewOwn starts a server for t alone, also when BW_TEST_POSTGRES names one. It
// ends with the test.
func NewOwn(t testing.TB) *Own {
	t.Helper()
	bin, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	s, err := start(bin)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.stop.Close() })
	return &Own{t: t, s: s}
}

// URL returns the address of the server, which it keeps when it starts again.
func (o *Own) URL() string { return o.s.url }

// Stop ends the server and waits until it has ended: fast, which rolls back and
// ends every session in order, or at once, as a crash would.
func (o *Own) Stop(fast bool) {
	o.t.Helper()
	sig := syscall.SIGQUIT
	if fast {
		sig = syscall.SIGINT
	}
	if err := syscall.Kill(o.pid(), sig); err != nil {
		o.t.Fatal(err)
	}
	if !o.s.await(func(pid []string) bool { return pid == nil }) {
		o.t.Fatal("pgtest: the server does not end")
	}
}

// Start starts a server that was stopped, and waits until it takes connections.
func (o *Own) Start() {
	o.t.Helper()
	if err := o.s.run(); err != nil {
		o.t.Fatal(err)
	}
}

// Freeze stops every process of the server by SIGSTOP. Connections are neither
// closed nor refused: everything hangs.
func (o *Own) Freeze() {
	o.t.Helper()
	ctx := o.t.Context()
	conn, err := pgx.Connect(ctx, o.s.url)
	if err != nil {
		o.t.Fatal(err)
	}
	defer func() { _ = conn.PgConn().Conn().Close() }() // an orderly end would wait for an answer
	o.freeze(o.pid())                                   // from here on nobody is born
	for {
		rows, _ := conn.Query(ctx, "select pid from pg_stat_activity where pid <> pg_backend_pid()")
		pids, err := pgx.CollectRows(rows, pgx.RowTo[int32])
		if err != nil {
			o.t.Fatal(err)
		}
		before := len(o.frozen)
		for _, pid := range pids {
			o.freeze(int(pid))
		}
		if len(o.frozen) == before { // also those whose birth was under way
			break
		}
	}
	o.freeze(int(conn.PgConn().PID()))
	o.t.Cleanup(o.Thaw)
}

func (o *Own) freeze(pid int) {
	if slices.Contains(o.frozen, pid) {
		return
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil && err != syscall.ESRCH {
		o.t.Error(err)
	}
	o.frozen = append(o.frozen, pid)
}

// Thaw lets a frozen server go on. It does nothing to one that is not frozen.
func (o *Own) Thaw() {
	for _, pid := range slices.Backward(o.frozen) {
		_ = syscall.Kill(pid, syscall.SIGCONT) // it may be gone
	}
	o.frozen = nil
}

func (o *Own) pid() int {
	o.t.Helper()
	lines := o.s.pidFile()
	if len(lines) == 0 {
		o.t.Fatal("pgtest: the server does not run")
	}
	pid, err := strconv.Atoi(strings.TrimSpace(lines[0]))
	if err != nil {
		o.t.Fatal(err)
	}
	return pid
}
