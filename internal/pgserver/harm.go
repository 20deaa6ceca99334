//go:build unix

package pgserver

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"syscall"

	"github.com/jackc/pgx/v5"

	"backwave/clockx"
)

// Stop ends the server and waits until it has ended: fast, which rolls back and
// ends every session in order, or else at once, which leaves the rest to the
// recovery of the next start.
func (s *Server) Stop(fast bool) error {
	sig := syscall.SIGQUIT
	if fast {
		sig = syscall.SIGINT
	}
	pid, err := s.pid()
	if err == nil {
		err = syscall.Kill(pid, sig)
	}
	if err != nil {
		return err
	}
	if !s.await(func(pid []string) bool { return pid == nil }) {
		return errors.New("the server does not end")
	}
	return nil
}

// Crash kills every process of the server, so that none can do anything more:
// what it had not handed to the operating system is gone.
func (s *Server) Crash(ctx context.Context) error {
	if err := s.Freeze(ctx); err != nil {
		return err
	}
	dying := s.frozen
	s.frozen = nil
	s.dead = strconv.Itoa(dying[0])
	for _, pid := range dying {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	// A server that starts refuses to while one of them holds the shared memory.
	// Where nobody collects orphans they stay visible, which is harmless.
	for range 50 {
		if !slices.ContainsFunc(dying, func(pid int) bool { return syscall.Kill(pid, 0) == nil }) {
			break
		}
		_ = clockx.Sleep(ctx, clockx.Wall{}, ReadyPause)
	}
	return nil
}

// Freeze stops every process of the server by SIGSTOP. Connections are neither
// closed nor refused: everything hangs, until Thaw.
func (s *Server) Freeze(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.PgConn().Conn().Close() }() // an orderly end would wait for an answer
	parent, err := s.pid()
	if err != nil {
		return err
	}
	if err := s.freeze(parent); err != nil { // from here on nobody is born
		return err
	}
	for {
		rows, _ := conn.Query(ctx, "select pid from pg_stat_activity where pid <> pg_backend_pid()")
		pids, err := pgx.CollectRows(rows, pgx.RowTo[int32])
		if err != nil {
			return err
		}
		before := len(s.frozen)
		for _, pid := range pids {
			if err := s.freeze(int(pid)); err != nil {
				return err
			}
		}
		if len(s.frozen) == before { // also those whose birth was under way
			break
		}
	}
	return s.freeze(int(conn.PgConn().PID()))
}

func (s *Server) freeze(pid int) error {
	if slices.Contains(s.frozen, pid) {
		return nil
	}
	s.frozen = append(s.frozen, pid)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// Thaw lets a frozen server go on. It does nothing to one that is not frozen.
func (s *Server) Thaw() {
	for _, pid := range slices.Backward(s.frozen) {
		_ = syscall.Kill(pid, syscall.SIGCONT) // it may be gone
	}
	s.frozen = nil
}
