//go:build unix

package killtest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"backwave/checker"
	"backwave/engine"
	"backwave/history"
	"backwave/internal/pgtest"
	"backwave/store"
)

const (
	jobs     = 2000 // half of them with effects
	workers  = 3
	trouble  = 20 * time.Second
	patience = 90 * time.Second // for what is left when nobody is killed any more
)

func TestNothingIsLostOrDoneTwice(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		kill(t, "sqlite:"+filepath.Join(t.TempDir(), "jobs.db"), "")
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url, schema := pgtest.Schema(t)
		kill(t, url, schema)
	})
}

// nemesis runs the worker processes, and does them harm.
type nemesis struct {
	t         *testing.T
	dsn, dir  string
	schema    string
	chance    *rand.Rand
	procs     [workers]*exec.Cmd
	frozen    [workers]time.Time // until when; zero = not
	histories []string
	did       map[string]int
}

func kill(t *testing.T, dsn, schema string) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	n := &nemesis{t: t, dsn: dsn, schema: schema, dir: t.TempDir(), chance: rand.New(rand.NewPCG(seed, 0)), did: map[string]int{}}
	ctx := t.Context()
	s, err := open(ctx, dsn, schema)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	mine := filepath.Join(n.dir, "enqueues.jsonl")
	file, err := os.Create(mine)
	if err != nil {
		t.Fatal(err)
	}
	n.histories = append(n.histories, mine)
	rec := history.NewRecorder(s.Store, history.NewWriter(file).Flushed(), "test", func() int64 { return time.Now().UnixNano() })
	client := engine.NewClient(engine.ClientConfig{Store: rec})
	for i := range workers {
		n.start(i)
	}
	defer n.end()
	ids := map[store.JobID]string{}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); time.Since(began) < trouble || len(ids) < jobs; { // a frozen writer may have held us up
		<-tick.C
		for k := 0; k < 10 && len(ids) < jobs; k++ {
			name := []string{plain, effect}[len(ids)%2]
			r, err := client.Enqueue(ctx, name, nil, engine.Queue(queue))
			if err != nil {
				t.Fatal(err)
			}
			ids[r.ID] = name
		}
		n.strike()
	}
	n.heal()
	n.finish(ctx, s)
	t.Logf("what was done to them: %v", n.did)
	judge(ctx, t, s, ids)
	n.judgeHistories()
}

// start starts process i anew.
func (n *nemesis) start(i int) {
	file := filepath.Join(n.dir, fmt.Sprintf("history-%d.jsonl", len(n.histories)))
	n.histories = append(n.histories, file)
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), envStore+"="+n.dsn, envSchema+"="+n.schema, envHistory+"="+file)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		n.t.Fatal(err)
	}
	n.procs[i] = c
}

// strike now and then does harm to one process, and wakes those that have
// slept enough.
func (n *nemesis) strike() {
	for i, until := range n.frozen {
		if !until.IsZero() && time.Now().After(until) {
			n.wake(i)
		}
	}
	if n.chance.IntN(5) > 0 {
		return
	}
	i := n.chance.IntN(workers)
	switch kind := n.chance.IntN(10); {
	case kind < 4:
		n.did["SIGKILL"]++
		_ = n.procs[i].Process.Kill()
		_ = n.procs[i].Wait()
		n.frozen[i] = time.Time{}
		n.start(i)
	case kind < 8:
		if n.frozen[i].IsZero() {
			n.did["SIGSTOP"]++
			n.freeze(i, time.Duration(n.chance.Int64N(int64(2*lease))))
		}
	default:
		n.did["SIGTERM"]++
		n.wake(i)
		n.terminate(n.procs[i])
		n.start(i)
	}
}

// freeze stops process i for a while. It wakes whatever this test is doing by
// then: a process that holds the write lock of a SQLite file stops everybody's
// writes while it sleeps, the test's own too.
func (n *nemesis) freeze(i int, long time.Duration) {
	p := n.procs[i].Process
	n.frozen[i] = time.Now().Add(long)
	_ = p.Signal(syscall.SIGSTOP)
	time.AfterFunc(long, func() { _ = p.Signal(syscall.SIGCONT) })
}

func (n *nemesis) wake(i int) {
	n.frozen[i] = time.Time{}
	_ = n.procs[i].Process.Signal(syscall.SIGCONT)
}

func (n *nemesis) heal() {
	for i := range n.procs {
		n.wake(i)
	}
}

func (n *nemesis) end() {
	for _, p := range n.procs {
		_ = p.Process.Signal(syscall.SIGCONT)
		_ = p.Process.Kill()
		_ = p.Wait()
	}
}

// finish waits for the rest of the jobs, and then lets the workers stop.
func (n *nemesis) finish(ctx context.Context, s *shared) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); ; {
		<-tick.C
		left, err := s.Unfinished(ctx, []string{queue})
		if err == nil && left == 0 {
			break
		}
		if time.Since(began) > patience {
			n.t.Fatalf("%d jobs are left after %v without trouble: %v", left, patience, err)
		}
	}
	for _, p := range n.procs {
		n.terminate(p)
	}
}

// terminate asks a process to stop and waits until it has. One that had not
// come so far as to listen for the signal dies of it, which is as good.
func (n *nemesis) terminate(p *exec.Cmd) {
	_ = p.Process.Signal(syscall.SIGTERM)
	err := p.Wait()
	if s, ok := p.ProcessState.Sys().(syscall.WaitStatus); err != nil && (!ok || s.Signal() != syscall.SIGTERM) {
		n.t.Errorf("a worker that was asked to stop: %v", err)
	}
}

// judge looks at what the store and the effects say.
func judge(ctx context.Context, t *testing.T, s *shared, ids map[store.JobID]string) {
	if len(ids) != jobs {
		t.Errorf("%d jobs were enqueued, want %d", len(ids), jobs)
	}
	effects, err := s.query(ctx, "select job, count(*) from effects group by job")
	if err != nil {
		t.Fatal(err)
	}
	attempts := 0
	for id, name := range ids {
		j, err := s.Job(ctx, id)
		if err != nil {
			t.Fatalf("job %v: %v", id, err)
		}
		successes := 0
		for _, e := range j.Ends {
			if e.Kind == store.EndSuccess {
				successes++
			}
		}
		if j.State != store.Succeeded || successes != 1 || j.EndsCut+len(j.Ends) != j.Attempt {
			t.Errorf("job %v (%s) is %s after %d attempts, with %d ends, %d of them a success", id, name, j.State, j.Attempt, j.EndsCut+len(j.Ends), successes)
		}
		want := map[string]int{effect: 1}[name]
		if got := effects[id.String()]; got != want {
			t.Errorf("job %v (%s) has %d effects, want %d", id, name, got, want)
		}
		attempts += j.Attempt
	}
	t.Logf("%d jobs took %d attempts", len(ids), attempts)
}

// judgeHistories puts together what all processes recorded, and judges it.
func (n *nemesis) judgeHistories() {
	var logs []*history.Log
	for _, name := range n.histories {
		f, err := os.Open(name)
		if err != nil {
			if strings.Contains(err.Error(), "no such file") {
				continue // killed before it began
			}
			n.t.Fatal(err)
		}
		l, _, err := history.Read(f)
		_ = f.Close()
		if err == nil {
			logs = append(logs, l)
		} else if st, _ := os.Stat(name); st == nil || st.Size() > 0 {
			n.t.Errorf("%s: %v", name, err)
		}
	}
	r := checker.CheckLinear(history.Merge(logs...), checker.LinearOptions{Completions: true})
	for _, f := range r.Findings {
		n.t.Errorf("%s: %s", f.Invariant, f.Message)
	}
	n.t.Logf("histories of %d processes: %d jobs, %d not attempted, %d undecided", len(logs), r.Jobs, r.NotAttempted, r.Undecided)
	if r.Jobs < jobs || 2*(r.NotAttempted+r.Undecided) > r.Jobs {
		n.t.Errorf("too little was judged")
	}
}
