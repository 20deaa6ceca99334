package sim

import (
	"fmt"
	"math"
	"time"

	"backwave/checker"
	"backwave/engine/pump"
	"backwave/history"
	"backwave/store"
	"backwave/store/memory"
)

// epoch is what all wall clocks without an offset, and the store's, show at
// the start of a world: 2026-01-01T00:00:00Z.
const epoch = 1_767_225_600 * int64(time.Second)

// world is one run of one scenario.
type world struct {
	sc    *Scenario
	seed  uint64
	now   int64 // true time, ns
	end   int64
	queue queue
	timer timers

	events uint64
	spun   int                 // events since time last went on
	found  []checker.Violation // by the world itself
	trace  tracer
	story  func(Line)
	enough func() bool
	step   func(*Moment) bool
	moment Moment // the event under way, if anybody steps
	reseed Reseed
	ended  bool // by enough, or step
	watch  *witness
	log    *history.Log

	store      *memory.Store
	storeClock clock
	snapshots  []snapshot
	audits     int              // entries so far
	images     []checker.Change // reused

	net    netState
	calls  []flight
	free   []int32        // of calls
	draft  flight         // the call that a pump is making
	slab   []checker.Call // not used yet
	serial uint64         // of calls

	nodes    []*node
	pumps    []*host // every start of every pump, by checker.PumpID
	groups   []group
	jobs     []job
	byName   map[string]int32
	byID     map[store.JobID]int32
	runs     []run
	idle     []int32 // free of runs
	probes   []probe
	own      Handlers // nil = the scripts are run
	outs     []outside
	standing []standing
	alarms   []checker.Violation // raised by own
	foul     bool                // a handler cannot be run on
	afoot    int                 // handlers in Go that run, and requests of theirs under way
	actions  []int               // sends so far, by index into the timeline
	seen     situations

	healed  int64           // true time of the last trouble
	coming  int             // faults and probes in the queue
	open    int             // jobs that have not ended
	settled bool            // there was nothing left to do
	paused  map[string]bool // queues, by the commands that took effect
	ambush  []ambushed
	landed  []bool // by index into the timeline: it has hit something
	prompt  *pickups
}

// group is a Worker Group of the scenario, resolved.
type group struct {
	name   string
	pumps  int
	cfg    pump.Config
	queues []string
}

// Options say how to run a scenario.
type Options struct {
	Seed  uint64
	Trace func(line string) // gets every event as a line of text; nil = none
	Story func(Line)        // gets what a person wants to know; nil = none
	Stop  func() bool       // asked every few thousand events; true ends the run at once; nil = never
	Log   *history.Log      // gets the history, for Result.CheckLinear; nil = none
	// Handlers runs the jobs; nil = their scripts are run.
	Handlers Handlers
	// Observe is told what happens, as data; nil = nobody is. It changes nothing.
	Observe func(Seen)
	// Step is called after every event, and ends the run there if it returns
	// false; nil = nobody is. It changes nothing.
	Step func(*Moment) bool
	// Reseed draws the rest of the run with another seed.
	Reseed Reseed
}

// Reseed says from which event on chance has another seed: what is drawn before
// stays what it was, and so does all that happens before.
type Reseed struct {
	From uint64 // number of an event, from 1; 0 = the run has one seed
	Seed uint64
}

// Run plays sc to its end and judges it by the invariants and by what its
// author expects. sc must be sound, as package scenario checks it.
func Run(sc *Scenario, o Options) *Result {
	w := newWorld(sc, o)
	defer w.overOwn()
	w.play()
	return w.result(o)
}

func newWorld(sc *Scenario, o Options) *world {
	w := &world{
		sc: sc, seed: mix(o.Seed), end: int64(sc.For), story: o.Story, enough: o.Stop, log: o.Log,
		step: o.Step, reseed: o.Reseed,
		storeClock: newClock(sc.Store, epoch), own: o.Handlers,
		paused: map[string]bool{},
	}
	w.watch = newWitness(w, checker.NewWatch(checker.WatchOptions{Name: w.jobName, Epoch: toInstant(epoch)}), o.Observe)
	w.trace.out = o.Trace
	w.store = memory.New((*storeTime)(w))
	w.net = newNetState(sc)
	w.actions, w.landed = make([]int, len(sc.Timeline)), make([]bool, len(sc.Timeline))
	w.addGroups()
	w.addJobs()
	w.addNodes()
	for i, f := range sc.Timeline {
		f.plan(w, int32(i))
	}
	w.addProbes()
	w.prompt = newPickups(w)
	if w.own != nil {
		w.own.Begin(&View{w})
	}
	w.watch.began()
	return w
}

func (w *world) addGroups() {
	for _, g := range w.sc.Groups {
		r := group{name: g.Name, pumps: max(1, g.Pumps), cfg: g.Config.Resolved()}
		for _, q := range r.cfg.Queues {
			r.queues = append(r.queues, q.Name)
		}
		w.groups = append(w.groups, r)
	}
}

// storeTime is the store's clock of a world, as the store sees it.
type storeTime world

// Now implements memory.Clock.
func (s *storeTime) Now() store.Instant { return (*world)(s).storeNow() }

func (w *world) storeNow() store.Instant { return toInstant(w.storeClock.read(w.now)) }

// toInstant rounds down: the store's clock shows the last full microsecond.
func toInstant(ns int64) store.Instant { return store.Instant(ns / 1000) }

// fromInstant returns the first reading in ns that shows i.
func fromInstant(i store.Instant) int64 {
	if int64(i) > math.MaxInt64/1000 {
		return never
	}
	return int64(i) * 1000
}

// push adds an event; one after the end of the world is dropped.
func (w *world) push(e event) {
	if e.at <= w.end {
		w.queue.push(e)
	}
}

// play dequeues until the world ends. A timer due at the same instant as an
// event comes after it.
func (w *world) play() {
	for {
		te, tt := w.queue.next(), w.timer.next()
		if min(te, tt) > w.end {
			break
		}
		w.events++
		w.watch.Event(w.events)
		if w.events == w.reseed.From {
			w.seed = mix(w.reseed.Seed)
		}
		if !w.moving(min(te, tt)) || w.stopped() {
			break
		}
		var e event
		if te <= tt {
			e = w.queue.pop()
		} else {
			e = event{at: tt, kind: evWake, ref: w.timer.heap[0]}
			w.timer.set(e.ref, never)
		}
		w.now = e.at
		w.trace.event(w, e)
		w.about(e)
		w.dispatch(e)
		if !w.stepped() {
			break
		}
	}
	w.now = w.end
}

// stopped asks now and then whether the run is still wanted.
func (w *world) stopped() bool {
	w.ended = w.enough != nil && w.events%4096 == 0 && w.enough()
	return w.ended || w.foul
}

// spins is how many events of one instant are more than a world of a few jobs
// needs.
const spins = 100_000

// moving reports whether time goes on. An engine that asks at once to be woken
// at once, for ever, is a broken one, and must not hang the world.
func (w *world) moving(at int64) bool {
	if at > w.now {
		w.spun = 0
		return true
	}
	w.spun++
	if w.spun < spins || w.spun < spins+w.crowd() {
		return true
	}
	w.found = append(w.found, checker.Violation{Invariant: progress, Event: w.events, At: w.now, Message: fmt.Sprintf("%d events came at one instant: somebody asks to be woken at once, for ever", w.spun)})
	return false
}

// crowd is how many events the jobs may honestly bring at one instant: all of
// them enqueued at once, or their hints and ends met by nodes that stood still.
func (w *world) crowd() int {
	pumps := 0
	for _, n := range w.nodes {
		pumps += len(n.slots)
	}
	return len(w.jobs) * (8 + 2*pumps)
}

// progress is the name of the one invariant that is the world's own.
const progress = "progress"

// Invariants lists everything by which a run is judged, but for what its author
// expects.
func Invariants() []checker.Invariant {
	return append(checker.Invariants(),
		checker.Invariant{Name: progress, Sentence: "Time goes on: no pump asks to be woken at once, for ever."},
		checker.Invariant{Name: finishes, Sentence: "In a recoverable world every job that can finish does, within a time after the last fault has healed that follows from the plan."},
		checker.Invariant{Name: once, Sentence: "In a pristine world every job runs exactly once, and succeeds if its handler does."},
		checker.Invariant{Name: promptly, Sentence: "In a pristine world no job that is due waits longer than a poll beside a free slot, and none is recorded later than its report takes."},
		checker.Invariant{Name: "linearizable", Sentence: "What clients saw of each job could have happened one call at a time, each between its sending and its answer, on a store that keeps the promises."})
}

// jobName is what people call the job of id.
func (w *world) jobName(id store.JobID) string {
	if j, ok := w.byID[id]; ok {
		return w.jobs[j].name
	}
	return id.String()
}

func (w *world) dispatch(e event) {
	switch e.kind {
	case evApply:
		w.apply(e)
	case evReply:
		w.deliver(e)
	case evReturn:
		w.returned(e)
	case evProgress:
		w.progressed(e)
	case evWake:
		w.wake(w.pumps[e.ref])
	case evHint:
		w.hinted(e)
	case evBoot:
		w.boot(w.nodes[e.ref])
	case evExit:
		w.exit(e)
	case evFault:
		w.coming--
		w.trouble(e.at)
		w.landed[e.ref] = w.landed[e.ref] || !w.moot(w.sc.Timeline[e.ref])
		w.watch.strike(e.ref, e.step == 0)
		w.settle()
	case evEnqueue:
		w.enqueue(e)
	case evProbe:
		w.probe(e)
	case evHandler:
		w.handle(e)
	case evOutside:
		w.arrive(e)
	}
}
