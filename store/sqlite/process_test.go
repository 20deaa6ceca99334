package sqlite_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"backwave/checker"
	"backwave/history"
	"backwave/store"
	"backwave/store/sqlite"
)

// childRole, in the environment, makes the test binary another process that
// works on the file of its last argument.
const childRole = "BACKWAVE_TEST_CHILD"

func TestMain(m *testing.M) {
	role := os.Getenv(childRole)
	if role == "" {
		os.Exit(m.Run())
	}
	path := os.Args[len(os.Args)-1]
	err := map[string]func(string) error{"load": load, "drain": drain, "enqueue": enqueueOne}[role](path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child starts another process and returns it with what it prints.
func child(t *testing.T, role, path string) (*exec.Cmd, io.Reader) {
	t.Helper()
	c := exec.CommandContext(t.Context(), must(os.Executable()), path)
	c.Env = append(os.Environ(), childRole+"="+role)
	c.Stderr = os.Stderr
	out := must(c.StdoutPipe())
	check(t, c.Start())
	return c, out
}

func idOf(n int) store.JobID { return store.NewJobID(1_767_225_600_000, 5, uint64(n)) }

// load adds, claims and reports for as long as it lives, and prints what was
// acknowledged once it was.
func load(path string) error {
	ctx := context.Background()
	s, err := sqlite.Open(ctx, sqlite.Config{Path: path})
	if err != nil {
		return err
	}
	worker := fmt.Sprint("w", os.Getpid())
	for n := 1; ; n++ {
		id := store.NewJobID(1_767_225_600_000, uint64(os.Getpid()), uint64(n))
		if _, err := s.Enqueue(ctx, &store.Enqueue{Jobs: []store.NewJob{{ID: id, Name: "n", Queue: "q", Payload: []byte(id.String())}}}); err != nil {
			return err
		}
		fmt.Println("added", id)
		out, err := s.Claim(ctx, &store.Claim{Worker: worker, Number: uint64(n), Queues: []store.Quota{{Queue: "q", Most: 1}}, Max: 1, Lease: time.Hour})
		if err != nil {
			return err
		}
		for _, l := range out.Leases {
			fmt.Println("claimed", l.Key.Job)
			if _, err := s.Report(ctx, &store.Report{Worker: worker, Rows: []store.ReportRow{{Key: l.Key, Outcome: store.Success{}}}}); err != nil {
				return err
			}
			fmt.Println("succeeded", l.Key.Job)
		}
	}
}

// A process that is killed at any moment loses nothing it was told, in either
// setting, and leaves a file that works.
func TestAKilledProcessLosesNothingAcknowledged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	said := map[string][]string{} // by job
	for _, lines := range []int{1, 50, 301, 302, 303, 1000} {
		c, out := child(t, "load", path)
		in := bufio.NewScanner(out)
		for n := 0; in.Scan(); n++ {
			what, id, _ := strings.Cut(in.Text(), " ")
			said[id] = append(said[id], what)
			if n == lines {
				check(t, c.Process.Kill())
			}
		}
		if err := c.Wait(); err == nil || err.Error() != "signal: killed" {
			t.Fatalf("the child ended with %v", err)
		}
	}
	s := open(t, sqlite.Config{Path: path})
	for text, what := range said {
		id := must(store.ParseJobID(text))
		j, err := s.Job(t.Context(), id)
		if err != nil {
			t.Fatalf("job %v was %q: %v", id, what, err)
		}
		if slices.Contains(what, "claimed") && j.Attempt != 1 || slices.Contains(what, "succeeded") && j.State != store.Succeeded || string(j.Payload) != text {
			t.Errorf("job %v was %q and is %+v", id, what, j)
		}
	}
	var sound string
	check(t, raw(t, path).QueryRow(`PRAGMA integrity_check`).Scan(&sound))
	if sound != "ok" || len(said) < 500 {
		t.Errorf("integrity %q, %d jobs", sound, len(said))
	}
}

const drained = 300

// drain works until all jobs are terminal: some succeed, some fail first, some
// are left to lapse under leases of a second. It leaves its history beside the
// file.
func drain(path string) (err error) {
	ctx := context.Background()
	name := fmt.Sprint("p", os.Getpid())
	f, err := os.Create(path + "." + name + ".jsonl")
	if err != nil {
		return err
	}
	w := history.NewWriter(f)
	file, err := sqlite.Open(ctx, sqlite.Config{Path: path})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Flush(), f.Close(), file.Close()) }()
	s := history.NewRecorder(file, w, name, func() int64 { return time.Now().UnixNano() })
	number := uint64(1)
	for {
		left, err := s.Unfinished(ctx, []string{"q"})
		if err != nil || left == 0 {
			return err
		}
		out, err := s.Claim(ctx, &store.Claim{Worker: name, Number: number, Queues: []store.Quota{{Queue: "q", Most: 7}}, Max: 7, Lease: time.Second, Terms: &store.Terms{Default: store.Policy{First: time.Millisecond}}})
		if err != nil && store.FaultOf(err) == store.FaultBusy {
			continue
		}
		if err != nil {
			return err
		}
		number++
		if err := work(ctx, s, name, out.Leases); err != nil {
			return err
		}
		if _, err := s.Sweep(ctx, &store.Sweep{Queues: []string{"q"}, Max: 5}); err != nil && store.FaultOf(err) != store.FaultBusy {
			return err
		}
	}
}

func work(ctx context.Context, s store.Store, worker string, leases []store.Lease) error {
	var r store.Report
	for _, l := range leases {
		switch n := int(l.Key.Job[15]); {
		case n%10 == 0 && l.Key.Attempt == 1: // left to lapse
		case n%3 == 0 && l.Key.Attempt == 1:
			r.Rows = append(r.Rows, store.ReportRow{Key: l.Key, Outcome: store.Failure{Error: "once", HasRetryAfter: true}})
		default:
			r.Rows = append(r.Rows, store.ReportRow{Key: l.Key, Outcome: store.Success{}})
		}
	}
	for {
		if _, err := s.Report(ctx, &store.Report{Worker: worker, Rows: r.Rows}); err == nil || store.FaultOf(err) != store.FaultBusy {
			return err
		}
	}
}

func TestTwoProcessesDrainOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	s := open(t, sqlite.Config{Path: path})
	added := history.NewLog()
	r := history.NewRecorder(s, added, "parent", func() int64 { return time.Now().UnixNano() })
	for n := range drained {
		must(r.Enqueue(t.Context(), &store.Enqueue{Jobs: []store.NewJob{{ID: idOf(n), Name: "n", Queue: "q"}}}))
	}
	a, _ := child(t, "drain", path)
	b, _ := child(t, "drain", path)
	check(t, a.Wait())
	check(t, b.Wait())
	for n := range drained {
		j := must(s.Job(t.Context(), idOf(n)))
		if j.State != store.Succeeded || j.Attempt != len(j.Ends)+j.EndsCut || j.Attempt > 1 != (n%256%10 == 0 || n%256%3 == 0) {
			t.Errorf("job %d: %+v", n, j)
		}
	}
	logs := []*history.Log{added}
	workers := 0
	for _, name := range must(filepath.Glob(path + ".*.jsonl")) {
		l, cut, err := history.Read(must(os.Open(name)))
		check(t, err)
		if cut.Line != 0 {
			t.Errorf("%s is cut at line %d", name, cut.Line)
		}
		if len(l.Records()) > 50 {
			workers++
		}
		logs = append(logs, l)
	}
	if workers != 2 {
		t.Errorf("%d processes took part, want 2", workers)
	}
	h := merge(logs)
	if got := checker.CheckLinear(h, checker.LinearOptions{}); got.BlackBox != checker.Held || got.Jobs != drained || got.Undecided+got.NotAttempted > 0 {
		t.Errorf("%+v", got)
	}
}

// merge makes one history of several of one host, by time.
func merge(logs []*history.Log) *history.Log {
	type from struct {
		history.Record
		log int
	}
	var all []from
	for i, l := range logs {
		for _, r := range l.Records() {
			all = append(all, from{r, i})
		}
	}
	slices.SortStableFunc(all, func(a, b from) int { return int(a.At - b.At) })
	h := history.NewLog()
	for _, r := range all {
		call := r.Call*uint64(len(logs)) + uint64(r.log)
		switch r.Kind {
		case history.Sent:
			h.Sent(r.At, call, r.Client, r.Req)
		case history.Answered:
			h.Answered(r.At, call, r.Reply)
		case history.Failed:
			h.Failed(r.At, call, &store.TransientError{Fault: r.Fault, Err: errors.New(r.Err)})
		case history.Applied, history.Lost, history.Doubled, history.Forgot, history.Stepped: // a world's, not a process's
		}
	}
	return h
}

func enqueueOne(path string) error {
	s, err := sqlite.Open(context.Background(), sqlite.Config{Path: path})
	if err != nil {
		return err
	}
	_, err = s.Enqueue(context.Background(), &store.Enqueue{Jobs: []store.NewJob{{ID: idOf(1), Name: "n", Queue: "elsewhere"}}})
	return errors.Join(err, s.Close())
}

// Work that another process adds is told by the poll, that of this one at once.
func TestHints(t *testing.T) {
	path := filepath.Join(t.TempDir(), "jobs.db")
	s := open(t, sqlite.Config{Path: path})
	hints := make(chan string, 100)
	stop := s.Hints(func(q string) { hints <- q })
	defer stop()
	j := store.NewJob{ID: idOf(0), Name: "n", Queue: "here"}
	must(s.Enqueue(t.Context(), &store.Enqueue{Jobs: []store.NewJob{j}}))
	if got := <-hints; got != "here" {
		t.Errorf("hint of %q", got)
	}
	c, _ := child(t, "enqueue", path)
	for got := range hints {
		if got == "elsewhere" {
			break
		}
	}
	check(t, c.Wait())
	stop()
	stop() // twice is once
}
