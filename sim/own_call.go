package sim

import (
	"fmt"
	"time"

	"backwave/checker"
	"backwave/store"
)

// outside is a call of a handler on its way.
type outside struct {
	run  int32
	gen  uint32 // of the run, while it waits for the answer
	key  store.LeaseKey
	call NeedCall
	hit  blow
	back int64 // how long the answer takes
	seen SeenOutside
}

// callOut sends a request of run i to the world outside.
func (w *world) callOut(i int32, c NeedCall, hit blow) {
	r := &w.runs[i]
	job := &w.jobs[r.job]
	w.tellPump(r.host, "%s, attempt %d, calls %s: %s", job.name, r.key.Attempt, c.To, c.Text)
	who, nth := text(job.name), uint64(r.key.Attempt)<<32|uint64(r.calls)
	there := w.way(streamOutside, who, nth, 0) + int64(hit.there)
	back := w.way(streamOutside, who, nth, 1) + int64(hit.back)
	w.wakeRun(i, w.now+int64(c.Patience), ErrNoAnswer)
	seen := SeenOutside{Number: len(w.outs), Pump: r.host.id, Key: r.key, Nth: r.calls, To: c.To, Text: c.Text}
	w.outs = append(w.outs, outside{run: i, gen: r.gen, key: r.key, call: c, hit: hit, back: back, seen: seen})
	w.watch.leftOutside(int32(seen.Number))
	if hit.loseRequest {
		w.seen.reach(sawHandlerLost)
	} else {
		w.afoot++
		w.push(event{at: w.now + there, kind: evOutside, ref: int32(len(w.outs) - 1)})
	}
}

// arrive lets a request reach the world outside, whatever has become of its
// sender.
func (w *world) arrive(e event) {
	o := &w.outs[e.ref]
	r := &w.runs[o.run]
	if e.step == 1 { // the answer
		heard := r.gen == o.gen && r.key == o.key
		w.watch.answeredOutside(o, heard)
		if heard {
			w.wakeRun(o.run, w.now, o.err())
		}
		return
	}
	w.afoot--
	back := o.back
	name := w.key(o.key)
	if o.hit.refuse {
		w.say(o.call.To, "REFUSES %s of %s", o.call.Text, name)
		w.watch.refusedOutside(o)
	} else {
		extra, answer := o.call.Do()
		back += int64(extra)
		w.say(o.call.To, "%s of %s: %s", o.call.Text, name, answer)
		w.trace.word(text(answer))
		w.watch.arrivedOutside(o, answer)
	}
	switch {
	case o.hit.crashAfter && r.gen == o.gen && r.key == o.key:
		w.die(r, o.hit.by)
	case o.hit.loseReply:
		w.seen.reach(sawHandlerLost)
		w.say(o.call.To, "the answer to %s is LOST", name)
		w.watch.lostOutside(o)
	default:
		w.push(event{at: w.now + back, kind: evOutside, ref: e.ref, step: 1})
	}
	w.look()
	w.settle()
}

func (o *outside) err() error {
	if o.hit.refuse {
		return ErrRefused
	}
	return nil
}

// commitRun sends the statement with which run i records its success, and the
// commit after it: one call on the store, which takes both or none.
func (w *world) commitRun(i int32, need NeedCommit, hit blow) {
	r := &w.runs[i]
	h := r.host
	w.tellPump(h, "%s, attempt %d, commits its transaction", w.jobs[r.job].name, r.key.Attempt)
	req := &store.Report{Worker: h.worker, Rows: []store.ReportRow{{Key: r.key, Outcome: store.Success{Output: need.Output}}}}
	w.serial++
	c := w.newCall()
	*c = checker.Call{Ghost: checker.Ghost(w.serial), Kind: checker.CallComplete, Pump: h.id, SentTrue: w.now, SentNode: int64(h.node), Req: req, Leases: h.ghosts(req)}
	w.watch.Sent(c)
	if w.log != nil {
		w.log.Sent(w.now, w.serial, h.worker, req)
	}
	w.ask(i, flight{call: c, job: -1, act: -1, effect: need.Do}, need.Patience, hit)
}

// enqueueRun sends jobs that run i adds.
func (w *world) enqueueRun(i int32, need NeedEnqueue, hit blow) {
	r := &w.runs[i]
	parent := w.jobs[r.job].name
	for k := range need.Req.Jobs {
		w.adopt(&need.Req.Jobs[k], parent)
	}
	w.tellPump(r.host, "%s, attempt %d, enqueues %s", parent, r.key.Attempt, w.jobName(need.Req.Jobs[0].ID))
	f := w.people(checker.CallEnqueue, need.Req)
	f.got = need.Got
	w.ask(i, f, need.Patience, hit)
}

// adopt makes a job known that the scenario does not have.
func (w *world) adopt(n *store.NewJob, parent string) {
	if _, ok := w.byID[n.ID]; ok {
		return
	}
	name := n.Name + "/" + parent
	for k := 2; w.taken(name); k++ {
		name = fmt.Sprintf("%s/%s-%d", n.Name, parent, k)
	}
	i := int32(len(w.jobs))
	w.jobs = append(w.jobs, job{
		name: name, id: n.ID, spec: &Job{ID: name, Name: n.Name, Queue: n.Queue}, run: defaultRun,
		req: &store.Enqueue{Jobs: []store.NewJob{*n}}, acked: true, closed: true,
	})
	w.byName[name], w.byID[n.ID] = i, i
	w.watch.named(i)
}

func (w *world) taken(name string) bool {
	_, ok := w.byName[name]
	return ok
}

// ask sends a call of run i to the store.
func (w *world) ask(i int32, f flight, patience time.Duration, hit blow) {
	r := &w.runs[i]
	h := r.host
	who, nth := text(w.jobs[r.job].name), uint64(r.key.Attempt)<<32|uint64(r.calls)
	delay := w.way(streamOutside, who, nth, 0) + int64(h.n.slowness+w.net.slow+hit.there)
	w.wakeRun(i, w.now+int64(patience), ErrNoAnswer)
	f.own, f.run, f.runGen = true, i, r.gen
	f.host, f.nth, f.lose, f.refused = h, r.calls, hit.loseReply, hit.refuse
	f.extra = time.Duration(w.way(streamOutside, who, nth, 1)) + hit.back
	if hit.crashAfter {
		f.dies = hit.by
	}
	if hit.loseRequest || h.n.cut[0] > 0 {
		w.lose(&f)
		return
	}
	w.afoot++
	w.launch(&f, delay)
}

// carriedOut is what follows from a handler's call on the store, at once and
// whatever becomes of its answer.
func (w *world) carriedOut(f *flight) {
	if r, ok := f.reply.(*store.Reported); ok && f.err == nil && r.Rows[0].Status == store.ReportApplied {
		f.effect()
	}
	w.look()
	if r := &w.runs[f.run]; f.dies > 0 && r.gen == f.runGen && r.host == f.host {
		w.die(r, f.dies)
	}
}

// answered lets the answer to a handler's call on the store reach the handler.
func (w *world) answered(f *flight) {
	r := &w.runs[f.run]
	if r.gen != f.runGen || r.host != f.host {
		return
	}
	err := f.err
	if reply, ok := f.reply.(*store.Enqueued); ok && err == nil {
		f.got(reply)
	}
	if reply, ok := f.reply.(*store.Reported); ok && err == nil {
		switch reply.Rows[0].Status {
		case store.ReportApplied:
		case store.ReportBusy:
			err = errHeld
		case store.ReportRejected:
			err = fmt.Errorf("%w: %s", errRejected, reply.Rows[0].Reason)
		case store.ReportAlready, store.ReportStale:
			err = store.ErrLeaseLost
		}
	}
	w.wakeRun(f.run, w.now, err)
}
