package sim

import (
	"fmt"
	"time"

	"backwave/checker"
	"backwave/store"
	"backwave/store/memory"
)

// job is a job of the scenario and what is known of it.
type job struct {
	name    string
	id      store.JobID
	spec    *Job
	run     []Script
	req     *store.Enqueue
	sends   int
	acked   bool
	held    bool // somebody's transaction holds its row
	starts  int
	told    []string
	fenced  int
	renews  int
	ended   int64 // true time of the last terminal transition
	plain   int
	closed  bool    // it has ended, or was refused
	due     int64   // true time, by the plan
	ready   int64   // true time at which it was really due
	back    int64   // true time of the last return of a handler
	running int     // handlers that have not returned
	claims  []int64 // true times
	guard   int     // highest attempt that wrote under its token
	guarded int
	hinted  uint64 // how often pumps were to be hinted at it
}

// defaultRun is how a handler behaves of which nothing is said.
var defaultRun = []Script{{For: time.Second}}

// clientPatience is how long a client waits for an answer before it sends the
// same enqueue again.
const clientPatience = 5 * time.Second

// patience is how long a client waits after its n-th send: after twenty in vain
// each time twice as long, an hour at most.
func patience(n int) time.Duration {
	if n > 30 {
		return time.Hour
	}
	return min(time.Hour, clientPatience<<max(0, n-20))
}

func (w *world) addJobs() {
	n := 0
	for i := range w.sc.Jobs {
		n += max(1, w.sc.Jobs[i].Count)
	}
	w.jobs = make([]job, 0, n)
	w.byName, w.byID = make(map[string]int32, n), make(map[store.JobID]int32, n)
	for i := range w.sc.Jobs {
		spec := &w.sc.Jobs[i]
		for k := range max(1, spec.Count) {
			name := spec.ID
			if spec.Count > 1 {
				name = fmt.Sprintf("%s-%d", spec.ID, k+1)
			}
			w.addJob(spec, name, spec.At+time.Duration(k)*spec.Every)
		}
	}
}

func (w *world) addJob(spec *Job, name string, at time.Duration) {
	h := text(name)
	id := store.NewJobID((epoch+int64(at))/int64(time.Millisecond), draw(w.seed, streamID, h, 0, 0), draw(w.seed, streamID, h, 1, 0))
	n := store.NewJob{ID: id, Name: spec.Name, Queue: spec.Queue, Delay: spec.In, MaxAttempts: spec.MaxAttempts, UniqueKey: spec.Unique}
	if spec.Payload > 0 {
		n.Payload = make([]byte, spec.Payload)
	}
	if w.own != nil {
		n.Payload = w.own.Payload(name)
	}
	if n.Name == "" {
		n.Name = "work"
	}
	if n.Queue == "" {
		n.Queue = w.groups[0].queues[0]
	}
	run := spec.Run
	if len(run) == 0 {
		run = defaultRun
	}
	i := int32(len(w.jobs))
	w.jobs = append(w.jobs, job{name: name, id: id, spec: spec, run: run, req: &store.Enqueue{Jobs: []store.NewJob{n}}, due: int64(at + spec.In)})
	w.open++
	w.byName[name], w.byID[id] = i, i
	w.push(event{at: int64(at), kind: evEnqueue, ref: i})
}

// enqueue lets the client of a job send, or send again.
func (w *world) enqueue(e event) {
	j := &w.jobs[e.ref]
	if j.acked {
		return
	}
	w.sendEnqueue(e.ref)
	w.push(event{at: w.now + int64(patience(j.sends)), kind: evEnqueue, ref: e.ref})
}

func (w *world) sendEnqueue(i int32) {
	j := &w.jobs[i]
	j.sends++
	if j.sends > 1 {
		w.seen.reach(sawEnqueueAgain)
	}
	f := w.people(checker.CallEnqueue, j.req)
	f.job, f.nth = i, j.sends
	who := text(j.name)
	delay := w.way(streamClient, who, uint64(j.sends), 0) + int64(w.net.slow)
	f.extra = time.Duration(w.way(streamClient, who, uint64(j.sends), 1))
	lost := false
	for k, t := range w.sc.Timeline {
		if o, ok := t.(OnEnqueue); ok && w.byName[o.Job] == i && max(1, o.Nth) == j.sends {
			w.landed[k] = true
			w.trouble(w.now)
			delay, lost = o.strike(w, &f, delay, lost)
		}
	}
	if lost {
		w.lose(&f)
		return
	}
	w.launch(&f, delay)
}

// people returns a call that no pump makes, and books its send.
func (w *world) people(k checker.CallKind, req store.Request) flight {
	w.serial++
	c := &checker.Call{Ghost: checker.Ghost(w.serial), Kind: k, Pump: -1, SentTrue: w.now, Req: req}
	w.trace.word(uint64(k), w.serial)
	w.watch.Sent(c)
	if w.log != nil {
		w.log.Sent(w.now, w.serial, "people", req)
	}
	return flight{call: c, job: -1, act: -1}
}

// act lets an operator send the command at index i of the timeline, with the
// same request id however often; with lost, the answer to the first is lost.
func (w *world) act(i int32, cmd store.Command, lost bool) {
	f := w.people(checker.CallDo, &store.Do{Actor: "operator", RequestID: fmt.Sprintf("request-%d", i), Command: cmd})
	f.act = i
	w.actions[i]++
	f.nth = w.actions[i]
	f.lose = lost && f.nth == 1
	f.extra = time.Duration(w.way(streamClient, command(cmd), uint64(f.nth), 3))
	w.launch(&f, w.way(streamClient, command(cmd), uint64(f.nth), 2))
}

// answerPeople lets an answer reach a client or an operator.
func (w *world) answerPeople(f *flight) {
	fault := store.Fault(0)
	if f.err != nil {
		fault = store.FaultOf(f.err)
	}
	w.watch.Answered(f.call, f.reply, nil, fault, f.err != nil, 0)
	if w.log != nil {
		if f.err != nil {
			w.log.Failed(w.now, uint64(f.call.Ghost), f.err)
		} else {
			w.log.Answered(w.now, uint64(f.call.Ghost), f.reply)
		}
	}
	if f.err != nil {
		return // sent again by patience, or by nobody
	}
	switch r := f.reply.(type) {
	case *store.Enqueued:
		j := &w.jobs[f.job]
		if r.Rows[0].Status != store.EnqueueBusy {
			j.acked = true
			w.refused(j, r.Rows[0].Status)
		}
		w.say("client", "has %s enqueued: %s", j.name, r.Rows[0].Status)
	case *store.Done:
		if r.Repeat {
			w.seen.reach(sawRequestAgain)
		}
		w.say("operator", "is answered: %s", r.Result)
	case *store.Claimed, *store.Renewed, *store.Reported, *store.Swept:
	}
}

// changed books what a commit did to jobs, for people and for hints.
func (w *world) changed(changes []memory.Change) {
	for i := range changes {
		before, after := &changes[i].Before, &changes[i].After
		if before.State == after.State {
			continue
		}
		j := &w.jobs[w.byID[after.ID]]
		w.moved(j, before, after)
		if w.story != nil {
			w.say("store", "%s: %s", j.name, transition(before, after))
		}
		if after.State == store.Scheduled && before.State != store.Executing {
			w.hint(j, after.Queue)
		}
	}
}

func transition(before, after *store.Job) string {
	s := after.State.String()
	if before.ID.IsZero() {
		return "enqueued"
	}
	switch {
	case after.State == store.Executing:
		return fmt.Sprintf("attempt %d is claimed by %s, lease until %s", after.Attempt, after.Worker, clockOf(after.LeaseUntil))
	case before.State == store.Executing && len(after.Ends) > 0:
		e := after.Ends[len(after.Ends)-1]
		s = fmt.Sprintf("attempt %d ends as %s → %s", e.Attempt, e.Kind, after.State)
	}
	if after.State == store.Scheduled {
		s += ", due " + clockOf(after.Due)
	}
	return s
}

// clockOf prints a store instant as time since the start of the world, by the
// store's clock.
func clockOf(i store.Instant) string {
	return time.Duration(int64(i)*1000 - epoch).Round(time.Millisecond).String()
}

// hint tells the pumps that serve queue of j, as the network lets it.
func (w *world) hint(j *job, queue string) {
	mode := w.sc.Net.Hints
	if mode == "none" {
		return
	}
	j.hinted++
	for _, n := range w.nodes {
		if !n.up {
			continue
		}
		for _, h := range n.hosts {
			if h.dead || !contains(h.group.queues, queue) {
				continue
			}
			x := draw(w.seed, streamHint, h.who(), text(j.name), 2*j.hinted)
			if mode == "some" && x%2 == 0 {
				continue
			}
			at := w.now + w.way(streamHint, h.who(), text(j.name), 2*j.hinted+1)
			if mode == "late" {
				d := w.sc.Net.HintDelay
				if d == 0 {
					d = 3 * time.Second
				}
				at += int64(x % uint64(d+1))
			}
			w.push(event{at: at, kind: evHint, ref: int32(h.id)})
			if mode == "doubled" {
				w.push(event{at: at + int64(x%uint64(time.Second)), kind: evHint, ref: int32(h.id)})
			}
		}
	}
}
