package bubble

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"backwave/checker"
	"backwave/history"
	"backwave/sim"
	"backwave/store"
	"backwave/store/memory"
)

// epoch is what the store's clock shows at the start of a world, in ns: decades
// from what the clocks of nodes show.
const epoch = 1_767_225_600 * int64(time.Second)

// world is one run of one plan.
type world struct {
	sc    *sim.Scenario
	seed  uint64
	start time.Time
	names []string        // of jobs that have a handler
	ctx   context.Context // until the world is over
	end   context.CancelFunc
	freed chan struct{} // closed when handlers that hang may go
	live  bool          // everything that can finish has to

	tasks   sync.WaitGroup // what the plan does, and its clients
	flights sync.WaitGroup // calls and hints under way

	mu       sync.Mutex // guards all below
	found    []string   // breaches
	hits     map[string]int
	closing  bool
	pending  int // tasks that must be over before the world may end early
	healed   time.Duration
	store    *memory.Store
	clock    line
	bent     bool // the store's clock was not even
	log      *history.Log
	watch    *checker.Watch
	audits   int
	serial   uint64
	procs    int
	nodes    []*node
	all      []*process
	jobs     []*job
	byID     map[store.JobID]*job
	ids      map[store.Request]uint64 // of calls that the recorder has noted and the network has not
	pumpOf   map[string]pumpCall      // by worker
	pumps    map[pumpStart]checker.PumpID
	known    map[held]checker.Ghost
	lost     map[string]bool // requests of people whose first answer is lost
	sends    map[uint64]int
	attempts map[store.Token]*attempt
	net      netState
}

// pumpStart is one start of a pump.
type pumpStart struct {
	p     *process
	group string
	pump  int
}

// netState is what is wrong with network and store at the moment.
type netState struct {
	outage, refuse int
	stall          []int64 // ends of stalls under way
	errors         []*sim.StoreError
	slow           time.Duration // for everybody
}

// stalled returns for how long the store answers nobody from now on.
func (n *netState) stalled(now int64) time.Duration {
	if len(n.stall) == 0 {
		return 0
	}
	return time.Duration(max(1, slices.Max(n.stall)-now))
}

func newWorld(sc *sim.Scenario, seed uint64) *world {
	w := &world{
		sc: sc, seed: seed, start: time.Now(), freed: make(chan struct{}), hits: map[string]int{},
		clock: line{base: epoch + int64(sc.Store.Offset), ppm: int64(sc.Store.Drift)}, bent: sc.Store.Drift != 0,
		log: history.NewLog(), byID: map[store.JobID]*job{}, ids: map[store.Request]uint64{}, pumpOf: map[string]pumpCall{},
		pumps: map[pumpStart]checker.PumpID{}, known: map[held]checker.Ghost{}, sends: map[uint64]int{}, lost: map[string]bool{}, attempts: map[store.Token]*attempt{},
	}
	w.ctx, w.end = context.WithCancel(context.Background())
	w.watch = checker.NewWatch(checker.WatchOptions{Name: w.jobName, Epoch: store.Instant(epoch / 1000)})
	w.store = memory.New(storeTime{w})
	w.addJobs()
	for i := range sc.Nodes {
		n := &node{w: w, spec: &sc.Nodes[i], made: map[pumpCall]int{}}
		n.clock = &nodeClock{n: n, began: w.start, line: line{ppm: int64(n.spec.Mono.Drift)}}
		w.nodes = append(w.nodes, n)
	}
	return w
}

// storeTime is the store's clock. It is read under w.mu.
type storeTime struct{ w *world }

// Now implements memory.Clock.
func (s storeTime) Now() store.Instant { return store.Instant(s.w.clock.read(s.w.time()) / 1000) }

// time returns true time, in ns since the start of the world.
func (w *world) time() int64 { return int64(time.Since(w.start)) }

// sleep waits for d and reports whether the world still goes on.
func (w *world) sleep(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-w.ctx.Done():
		return false
	}
}

// task does what the plan says, beside everything else.
func (w *world) task(do func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closing {
		return
	}
	w.pending++
	w.tasks.Go(func() {
		do()
		w.mu.Lock()
		defer w.mu.Unlock()
		w.pending--
		w.healed = max(w.healed, time.Duration(w.time()))
	})
}

// breach notes something that must not be.
func (w *world) breach(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.breachLocked(format, args...)
}

func (w *world) breachLocked(format string, args ...any) {
	if len(w.found) < 20 {
		w.found = append(w.found, fmt.Sprintf("at %v: ", time.Since(w.start))+fmt.Sprintf(format, args...))
	}
}

// hurry notes a breach after which it is no use to go on.
func (w *world) hurry(format string, args ...any) {
	if !w.closing {
		w.closing = true
		w.breachLocked(format, args...)
	}
}

// hit counts that a fault of a kind did something.
func (w *world) hit(kind string) { w.hits[kind]++ }

// trouble books that something is wrong for d from now on.
func (w *world) trouble(d time.Duration) {
	w.healed = max(w.healed, time.Duration(w.time())+d)
}

func (w *world) jobName(id store.JobID) string {
	if j := w.byID[id]; j != nil {
		return j.name
	}
	return id.String()
}

// served lists the groups that a node runs.
func (w *world) served(n *node) (out []*sim.Group) {
	for i := range w.sc.Groups {
		if g := &w.sc.Groups[i]; len(n.spec.Groups) == 0 || slices.Contains(n.spec.Groups, g.Name) {
			out = append(out, g)
		}
	}
	return out
}

func queuesOf(g *sim.Group) (out []string) {
	for _, q := range g.Config.Queues {
		out = append(out, q.Name)
	}
	return out
}

// begin tells the Watch of the pumps of a process. That they are gone at once
// keeps it from judging what they send by node time, which nobody here knows;
// it judges commits.
func (w *world) begin(p *process) {
	w.all = append(w.all, p)
	for _, g := range w.served(p.n) {
		for i := range max(1, g.Pumps) {
			c := g.Config.Resolved()
			id := checker.PumpID(len(w.pumps))
			w.pumps[pumpStart{p, g.Name, i}] = id
			w.watch.PumpBegan(checker.PumpInfo{
				ID: id, Node: p.n.spec.Name, Group: g.Name, Process: p.number, Queues: queuesOf(g), PoolSize: c.PoolSize,
				Lease: c.LeaseDuration, Heartbeat: c.HeartbeatInterval, Maintenance: c.MaintenanceInterval, Poll: c.PollInterval, MaxPoll: c.MaxPollInterval,
				OpTimeout: c.OperationTimeout, AbandonAfter: c.AbandonAfter, Finish: c.FinishTimeout, Shutdown: c.ShutdownTimeout,
				ReleaseOnDrain: c.ReleaseOnDrain, SweepBatch: c.SweepBatch, Terms: c.Terms,
			}, w.time(), 0)
			w.watch.PumpDied(id, w.time())
		}
	}
}

// commit lets the store carry out f, or fail.
func (w *world) commit(f *flight) (a answer, leases []checker.Ghost) {
	c := checker.Commit{Call: f.call, True: w.time(), StoreNow: storeTime{w}.Now(), Audits: w.audits}
	if err := w.refuse(f); err != nil {
		c.Err = err
		w.watch.Applied(&c)
		w.log.Lost(w.time(), f.id)
		return answer{nil, err}, nil
	}
	reply, err := w.store.Apply(f.call.Req)
	w.audits = len(w.store.Audits())
	c.Reply, c.Err, c.Audits = reply, err, w.audits
	changes := w.store.Changes()
	for i := range changes {
		ch := &changes[i]
		c.Changes = append(c.Changes, checker.Change{Before: &ch.Before, After: &ch.After})
		if ch.After.State == store.Scheduled && ch.Before.State != store.Executing && ch.Before.State != store.Scheduled {
			w.hint(&ch.After)
		}
	}
	w.watch.Applied(&c)
	if err == nil && f.call.Kind != checker.CallForged {
		w.log.Applied(w.time(), f.id, reply)
	}
	if r, ok := reply.(*store.Claimed); ok && err == nil {
		for i := range r.Leases {
			leases = append(leases, w.watch.Lease(r.Leases[i].Key.Job))
		}
	}
	w.count(reply)
	return answer{copied(reply), err}, leases
}

// count counts the answers that a crash-free run would hardly see.
func (w *world) count(reply store.Reply) {
	switch r := reply.(type) {
	case *store.Reported:
		for _, a := range r.Rows {
			switch a.Status {
			case store.ReportStale:
				w.hit("answer/stale")
			case store.ReportAlready:
				w.hit("answer/already")
			case store.ReportApplied, store.ReportBusy, store.ReportRejected:
			}
		}
	case *store.Renewed:
		for _, a := range r.Rows {
			if a.Status == store.RenewLost {
				w.hit("answer/lost")
			}
		}
	case *store.Swept:
		if len(r.Disposed) > 0 {
			w.hit("answer/lapsed")
		}
	case *store.Claimed, *store.Enqueued, *store.Done:
	}
}

// refuse returns the error that the store's troubles give f, nil for none.
func (w *world) refuse(f *flight) error {
	if w.net.refuse > 0 {
		w.hit("restart")
		return &store.TransientError{Fault: store.FaultConnection, Err: errors.New("injected")}
	}
	if f.n == nil {
		return nil
	}
	for _, s := range w.net.errors {
		name := [...]string{"renew", "report", "claim", "sweep", "", "", "", ""}[f.call.Kind]
		if len(s.Nodes) > 0 && !slices.Contains(s.Nodes, f.n.spec.Name) || s.Group != "" && s.Group != f.at.group || len(s.Calls) > 0 && !slices.Contains(s.Calls, name) {
			continue
		}
		class, err := store.ParseFault(s.Class)
		if err != nil {
			panic(err)
		}
		w.hit("store-error/" + s.Class)
		if class == store.FaultFatal {
			return &sim.UnknownError{Text: "column \"lease_until\" does not exist"}
		}
		return &store.TransientError{Fault: class, Err: errors.New("injected")}
	}
	return nil
}

// hint tells engines of a job that has become due, as the network lets it.
func (w *world) hint(j *store.Job) {
	mode := w.sc.Net.Hints
	if mode == "none" {
		return
	}
	for _, n := range w.nodes {
		p := n.proc
		if p == nil || p.hint == nil {
			continue
		}
		w.serial++
		x := w.chance(7, text(n.spec.Name), w.serial)
		if mode == "some" && x%2 == 0 {
			continue
		}
		d := w.way(8, text(n.spec.Name), w.serial)
		if mode == "late" {
			late := w.sc.Net.HintDelay
			if late == 0 {
				late = 3 * time.Second
			}
			d += time.Duration(x % uint64(late+1))
		}
		w.tell(p, j.Queue, d)
		if mode == "doubled" {
			w.tell(p, j.Queue, d+time.Duration(x%uint64(time.Second)))
		}
	}
}

// tell gives one hint after d.
func (w *world) tell(p *process, queue string, d time.Duration) {
	w.flights.Go(func() {
		time.Sleep(d)
		p.n.stand()
		w.mu.Lock()
		hint := p.hint
		w.mu.Unlock()
		if hint != nil {
			hint(queue)
		}
	})
}
