package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"backwave/internal/pgserver"
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
	bin, err := pgserver.Binaries("name a server with --url")
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
	who, err := pgserver.Unprivileged()
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
		c := pgserver.Command(who, dir, name, args...)
		c.Env = append(os.Environ(), "BENCH_DIR="+dir)
		return c
	}
	data := filepath.Join(dir, "data")
	if out, err := command(filepath.Join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	port, err := pgserver.FreePort()
	if err != nil {
		return nil, err
	}
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
