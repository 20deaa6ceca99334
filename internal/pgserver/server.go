//go:build unix

package pgserver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"backwave/clockx"
)

// settings make the throw-away server quick to start and cheap to lose. What
// tests can observe of a commit (synchronous_commit) is left as it is: what was
// committed survives the end of every process of the server.
var settings = []string{
	"fsync=off", "full_page_writes=off", "shared_buffers=128MB", "max_wal_size=2GB",
	"max_connections=200", "max_prepared_transactions=0", "autovacuum_naptime=10s",
	"logging_collector=off", "log_min_messages=fatal", "unix_socket_directories=",
}

// guard starts the server at each line of its standard input, after the one
// before has ended. When the input ends, which happens when this process ends,
// however that comes about, it ends the server, also a stopped one, and leaves
// nothing behind.
const guard = `
while read -r _; do
	[ -z "$pid" ] || wait $pid
	"$0" "$@" >>server.log 2>&1 </dev/null &
	pid=$!
done
kill -QUIT $pid 2>/dev/null
kill -CONT $pid 2>/dev/null
wait $pid 2>/dev/null
cd / && rm -rf "$BW_PGTEST_DIR"
`

// Server is a running server. It is not for concurrent use.
type Server struct {
	url    string
	dir    string         // of its log and its data
	stop   io.WriteCloser // the guard's standard input
	guard  *exec.Cmd
	frozen []int  // processes, the parent of the others first
	dead   string // process number of a parent that was killed: its file is still there
}

// Start makes a cluster in a new directory of the system's folder for temporary
// files and starts a server of the binaries in bin on it, with more settings
// ("name=value") than the usual ones. It must be closed.
func Start(bin string, more ...string) (*Server, error) {
	who, err := Unprivileged()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "bw-pgtest-")
	if err != nil {
		return nil, err
	}
	if who != nil {
		if err := os.Chown(dir, int(who.Uid), int(who.Gid)); err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
	data := filepath.Join(dir, "data")
	initdb := Command(who, dir, filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync", "--no-instructions")
	if out, err := initdb.CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("initdb: %w\n%s", err, out), os.RemoveAll(dir))
	}
	port, err := FreePort()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	args := []string{"-c", guard, filepath.Join(bin, "postgres"), "-D", data, "-h", "127.0.0.1", "-p", strconv.Itoa(port)}
	for _, s := range append(slices.Clone(settings), more...) {
		args = append(args, "-c", s)
	}
	cmd := Command(who, dir, "/bin/sh", args...)
	cmd.Env = append(os.Environ(), "BW_PGTEST_DIR="+dir)
	stop, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start server: %w", err)
	}
	s := &Server{
		url: fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port),
		dir: dir, stop: stop, guard: cmd,
	}
	return s, s.Start()
}

// URL returns the address of the server, which it keeps when it starts again.
func (s *Server) URL() string { return s.url }

// Close ends the server, removes its files, and waits until that is done.
func (s *Server) Close() {
	_ = s.stop.Close()
	_ = s.guard.Wait() // how the shell ended says nothing
}

// Start starts a server that was stopped, and waits until it takes connections.
func (s *Server) Start() error {
	if _, err := io.WriteString(s.stop, "\n"); err != nil {
		return fmt.Errorf("start server: %w", err)
	}
	if s.await(func(pid []string) bool {
		return len(pid) >= 8 && pid[0] != s.dead && strings.TrimSpace(pid[7]) == "ready" // the state
	}) {
		s.dead = ""
		return nil
	}
	out, _ := os.ReadFile(filepath.Join(s.dir, "server.log"))
	_ = s.stop.Close()
	return fmt.Errorf("the server is not ready after %v:\n%s", ReadyTries*ReadyPause, out)
}

// await waits until the lines of the server's file of its process, none if there
// is no such file, are as they should be.
func (s *Server) await(want func(pid []string) bool) bool {
	for range ReadyTries {
		if want(s.pidFile()) {
			return true
		}
		_ = clockx.Sleep(context.Background(), clockx.Wall{}, ReadyPause)
	}
	return false
}

func (s *Server) pidFile() []string {
	b, err := os.ReadFile(filepath.Join(s.dir, "data", "postmaster.pid"))
	if err != nil {
		return nil
	}
	return strings.Split(string(b), "\n")
}

func (s *Server) pid() (int, error) {
	lines := s.pidFile()
	if len(lines) == 0 {
		return 0, errors.New("the server does not run")
	}
	return strconv.Atoi(strings.TrimSpace(lines[0]))
}

// A server that takes longer to start or to end is not waited for.
const (
	ReadyPause = 10 * time.Millisecond
	ReadyTries = 2000
)

// Unprivileged returns whom a server must run as: nil for this process's own
// user, unless that is root, as whom PostgreSQL refuses to run.
func Unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, _ := strconv.ParseUint(u.Uid, 10, 32)
		gid, _ := strconv.ParseUint(u.Gid, 10, 32)
		if uid != 0 {
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
		}
	}
	return nil, errors.New("PostgreSQL does not run as root and there is no user postgres or nobody: run this as another user, or name a server that runs")
}

// Command returns a command that runs in dir as who, out of reach of an
// interrupt from the terminal.
func Command(who *syscall.Credential, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: who, Setpgid: true}
	return cmd
}

// FreePort returns a port of 127.0.0.1 on which nobody listened just now.
func FreePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().(*net.TCPAddr).Port, nil
}
