package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// meter reads what client and server have used. Its own connection is idle
// while something is measured.
type meter struct {
	conn       *pgx.Conn
	url        string
	postmaster int // its process id
	foreign    int // the process of a client that is not ours; 0: there is none
}

func newMeter(ctx context.Context, url string) (*meter, error) {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	m := &meter{conn: conn, url: url}
	var backend int
	if err := conn.QueryRow(ctx, "select pg_backend_pid()").Scan(&backend); err != nil {
		return nil, fmt.Errorf("find the server's process: %w", err)
	}
	p, err := readProcess(backend)
	if err != nil || !strings.HasPrefix(p.comm, "postgres") {
		return nil, fmt.Errorf("process %d of the server is not on this machine: its processor time cannot be read", backend)
	}
	m.postmaster = p.parent
	return m, nil
}

func (m *meter) close() { _ = m.conn.Close(context.Background()) }

// logFiles, of 16 MB, are more than the runs of a benchmark write.
const logFiles = 100

// makeLogFiles makes a new server like one that has been up for a while: its
// log goes to files that are there. To make them would be most expensive for
// the system that logs most.
func (m *meter) makeLogFiles(ctx context.Context) error {
	for range logFiles {
		if _, err := m.conn.Exec(ctx, "select pg_logical_emit_message(false, 'bench', ''); select pg_switch_wal()"); err != nil {
			return fmt.Errorf("make log files: %w", err)
		}
	}
	return m.checkpoint(ctx)
}

// checkpoint has the server write what earlier runs left, and recycle their
// log files.
func (m *meter) checkpoint(ctx context.Context) error {
	if _, err := m.conn.Exec(ctx, "checkpoint"); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return nil
}

// reading is a moment's state of all meters.
type reading struct {
	at             time.Time
	client, server time.Duration // processor time so far
	wal            int64         // bytes of log so far
}

// cost is what a phase used.
type cost struct {
	wall, client, server time.Duration
	wal                  int64
}

func (m *meter) read(ctx context.Context) (r reading, err error) {
	if err := m.conn.QueryRow(ctx, "select (pg_current_wal_insert_lsn() - '0/0')::bigint").Scan(&r.wal); err != nil {
		return r, fmt.Errorf("read the log's position: %w", err)
	}
	if r.server, err = treeTime(m.postmaster); err != nil {
		return r, fmt.Errorf("read the server's processor time: %w", err)
	}
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return r, fmt.Errorf("read our processor time: %w", err)
	}
	r.client = time.Duration(u.Utime.Nano() + u.Stime.Nano())
	if m.foreign != 0 {
		p, err := readProcess(m.foreign)
		if err != nil {
			return r, fmt.Errorf("read the client's processor time: %w", err)
		}
		r.client += p.own
	}
	r.at = time.Now()
	return r, nil
}

// measure runs phase and returns what it cost, the collection of garbage that
// earlier phases left excluded.
func (m *meter) measure(ctx context.Context, phase func() error) (c cost, err error) {
	runtime.GC()
	a, err := m.read(ctx)
	if err != nil {
		return c, err
	}
	if err := phase(); err != nil {
		return c, err
	}
	wall := time.Since(a.at)
	b, err := m.read(ctx)
	return cost{wall: wall, client: b.client - a.client, server: b.server - a.server, wal: b.wal - a.wal}, err
}

// process is what /proc tells of a process.
type process struct {
	comm   string
	parent int
	own    time.Duration // processor time of its own
	dead   time.Duration // processor time of its children that have ended
}

// tick is the unit of processor time in /proc, on every machine Go runs on.
const tick = 10 * time.Millisecond

func readProcess(pid int) (process, error) {
	b, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return process{}, err
	}
	return parseStat(string(b))
}

// parseStat reads a line of /proc/PID/stat. The name in it may hold anything.
func parseStat(line string) (p process, err error) {
	open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return p, fmt.Errorf("no name in %q", line)
	}
	p.comm = line[open+1 : end]
	f := strings.Fields(line[end+1:])
	if len(f) < 15 {
		return p, fmt.Errorf("too few fields in %q", line)
	}
	var n [5]int
	for i, at := range [5]int{1, 11, 12, 13, 14} {
		if n[i], err = strconv.Atoi(f[at]); err != nil {
			return p, fmt.Errorf("field %d of %q: %w", at, line, err)
		}
	}
	p.parent, p.own, p.dead = n[0], time.Duration(n[1]+n[2])*tick, time.Duration(n[3]+n[4])*tick
	return p, nil
}

// treeTime returns the processor time of a process and its children, of those
// that have ended too.
func treeTime(root int) (sum time.Duration, err error) {
	p, err := readProcess(root)
	if err != nil {
		return 0, err
	}
	sum = p.own + p.dead
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return 0, err
	}
	for _, name := range stats {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		if p, err := readProcess(pid); err == nil && p.parent == root { // others may end meanwhile
			sum += p.own
		}
	}
	return sum, nil
}

// surroundings tells on what machine, with what versions and settings, and
// when. A server that does not wait for its disk is refused.
func (m *meter) surroundings(ctx context.Context) (map[string]string, error) {
	out := map[string]string{"date": time.Now().UTC().Format("2006-01-02 15:04 UTC"), "go": runtime.Version(), "cores": strconv.Itoa(runtime.NumCPU())}
	for _, name := range []string{"server_version", "fsync", "synchronous_commit", "full_page_writes", "shared_buffers"} {
		var v string
		if err := m.conn.QueryRow(ctx, "select current_setting($1)", name).Scan(&v); err != nil {
			return nil, fmt.Errorf("read setting %s: %w", name, err)
		}
		out[name] = v
	}
	if out["fsync"] != "on" || out["synchronous_commit"] != "on" {
		return nil, fmt.Errorf("the server has fsync=%s and synchronous_commit=%s: its commits are not durable", out["fsync"], out["synchronous_commit"])
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "github.com/riverqueue/river" || d.Path == "github.com/jackc/pgx/v5" {
				out[filepath.Base(strings.TrimSuffix(d.Path, "/v5"))] = d.Version
			}
		}
	}
	cpu, _ := os.ReadFile("/proc/cpuinfo")
	if _, rest, ok := strings.Cut(string(cpu), "model name\t: "); ok {
		out["cpu"], _, _ = strings.Cut(rest, "\n")
	}
	load, _ := os.ReadFile("/proc/loadavg")
	out["load"] = strings.Join(strings.Fields(string(load) + " ? ? ?")[:3], " ")
	return out, nil
}
