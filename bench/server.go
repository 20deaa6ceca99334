package main

import (
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
)

// settings are those of an ordinary durable server with some memory. No timed
// checkpoint falls into a run: page images after one would hit whoever is on.
var settings = []string{
	"fsync=on", "synchronous_commit=on", "full_page_writes=on", "autovacuum=on",
	"shared_buffers=1GB", "min_wal_size=3GB", "max_wal_size=4GB", "checkpoint_timeout=1h", "max_connections=100",
	"logging_collector=off", "log_min_messages=fatal", "unix_socket_directories=",
}

// guard ends the server and removes its directory when our end of its standard
// input is closed, however that comes about.
const guard = `
"$0" "$@" >server.log 2>&1 </dev/null & pid=$!
cat >/dev/null
kill -INT $pid; wait $pid
cd / && rm -rf "$BENCH_DIR"
`

const inMemory = 0x01021994 // TMPFS_MAGIC

// server is a throw-away server.
type server struct {
	url   string
	guard *exec.Cmd
	input io.Closer
}

// startServer starts one on a directory in parent, with more settings than the
// usual ones.
func startServer(parent string, more ...string) (*server, error) {
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	var fs syscall.Statfs_t
	if err := syscall.Statfs(parent, &fs); err != nil {
		return nil, fmt.Errorf("look at %s: %w", parent, err)
	}
	if fs.Type == inMemory {
		return nil, fmt.Errorf("%s is in memory, where fsync costs nothing: name another directory with --dir", parent)
	}
	who, err := unprivileged()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(parent, "bw-bench-")
	if err != nil {
		return nil, err
	}
	s, err := launch(bin, dir, who, append(slices.Clone(settings), more...))
	if err != nil {
		_ = os.RemoveAll(dir)
	}
	return s, err
}

func launch(bin, dir string, who *syscall.Credential, settings []string) (*server, error) {
	if who != nil {
		if err := os.Chown(dir, int(who.Uid), int(who.Gid)); err != nil {
			return nil, err
		}
	}
	command := func(name string, args ...string) *exec.Cmd {
		c := exec.Command(name, args...)
		c.Dir, c.Env = dir, append(os.Environ(), "BENCH_DIR="+dir)
		c.SysProcAttr = &syscall.SysProcAttr{Credential: who, Setpgid: true} // an interrupt is ours, not the server's
		return c
	}
	data := filepath.Join(dir, "data")
	if out, err := command(filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("find a free port: %w", err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	_ = l.Close()
	args := []string{"-c", guard, filepath.Join(bin, "postgres"), "-D", data, "-h", "127.0.0.1", "-p", strconv.Itoa(port)}
	for _, s := range settings {
		args = append(args, "-c", s)
	}
	s := &server{url: fmt.Sprintf("postgres://postgres@127.0.0.1:%d/postgres?sslmode=disable", port), guard: command("/bin/sh", args...)}
	if s.input, err = s.guard.StdinPipe(); err != nil {
		return nil, err
	}
	if err := s.guard.Start(); err != nil {
		return nil, err
	}
	for range 2000 {
		b, _ := os.ReadFile(filepath.Join(data, "postmaster.pid")) // its eighth line is the state
		if lines := strings.Split(string(b), "\n"); len(lines) >= 8 && strings.TrimSpace(lines[7]) == "ready" {
			return s, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	out, _ := os.ReadFile(filepath.Join(dir, "server.log"))
	s.stop()
	return nil, fmt.Errorf("not ready after 20 s:\n%s", out)
}

// stop ends the server and waits until it is gone.
func (s *server) stop() {
	_ = s.input.Close()
	_ = s.guard.Wait()
}

// binaries returns the folder of initdb and postgres: Debian's newest, else
// that of PATH.
func binaries() (string, error) {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	version := func(bin string) int {
		n, _ := strconv.Atoi(filepath.Base(filepath.Dir(bin)))
		return n
	}
	slices.SortFunc(dirs, func(a, b string) int { return version(b) - version(a) })
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, "initdb")); err == nil {
			return dir, nil
		}
	}
	if p, err := exec.LookPath("initdb"); err == nil {
		if p, err = filepath.EvalSymlinks(p); err == nil {
			return filepath.Dir(p), nil
		}
	}
	return "", fmt.Errorf("no PostgreSQL server binaries found: install them, or name a server with --url")
}

// unprivileged returns whom the server must run as: nil for ourselves, unless
// that is root, as whom PostgreSQL refuses to run.
func unprivileged() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		return nil, fmt.Errorf("PostgreSQL does not run as root: %w", err)
	}
	uid, _ := strconv.ParseUint(u.Uid, 10, 32)
	gid, _ := strconv.ParseUint(u.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}
