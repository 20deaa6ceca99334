package sim

import (
	"fmt"
	"time"
)

// faults draws which kinds of faults this world knows, and how many of each.
func (r *randomizer) faults() {
	share, most := pick(&r.dice, 10, 25, 50), pick(&r.dice, 1, 3, 3, 6)
	for _, k := range r.kinds() {
		if r.chance(share) {
			for range r.between(1, most) {
				k()
			}
		}
	}
}

// kinds returns what adds a fault of each kind.
func (r *randomizer) kinds() []func() {
	return []func(){
		r.crash, r.pause, r.suspend, r.drain, r.steps, r.drift, r.partition, r.slow, r.onCalls, r.onEnqueues,
		r.aim, r.aimReport, r.aimRepeat, r.aimSweep, r.forge, r.storeError, r.troubles, r.rows, r.forget, r.cancel, r.requeue, r.pauseQueue,
	}
}

func (r *randomizer) add(f Fault) { r.sc.Timeline = append(r.sc.Timeline, f) }

func (r *randomizer) when() time.Duration { return r.span(0, r.sc.For*9/10) }

// long returns a duration around the lease: some shorter, some longer.
func (r *randomizer) long() time.Duration { return r.span(r.lease/10, 2*r.lease) }

func (r *randomizer) node() string { return r.sc.Nodes[r.upTo(len(r.sc.Nodes))].Name }

func (r *randomizer) some() []string {
	if r.chance(20) {
		return nil
	}
	return []string{r.node()}
}

func (r *randomizer) job() string { return r.oneOf(&r.sc.Jobs[r.upTo(len(r.sc.Jobs))]) }

// oneOf names one of the jobs that j stands for.
func (r *randomizer) oneOf(j *Job) string {
	if j.Count <= 1 {
		return j.ID
	}
	return fmt.Sprintf("%s-%d", j.ID, r.between(1, j.Count))
}

func (r *randomizer) pump() Address {
	n := r.sc.Nodes[r.upTo(len(r.sc.Nodes))]
	g := r.sc.Groups[r.upTo(len(r.sc.Groups))]
	if len(n.Groups) > 0 && n.Groups[0] != g.Name {
		g = r.sc.Groups[0]
		if n.Groups[0] != g.Name {
			g = r.sc.Groups[1]
		}
	}
	return Address{Node: n.Name, Group: g.Name, Pump: r.upTo(g.Pumps)}
}

func (r *randomizer) restart() time.Duration {
	if !r.heals && r.chance(20) {
		return 0
	}
	return r.span(10*time.Millisecond, r.lease)
}

func (r *randomizer) crash() { r.add(Crash{At: r.when(), Node: r.node(), Restart: r.restart()}) }
func (r *randomizer) pause() { r.add(Pause{At: r.when(), Node: r.node(), For: r.long()}) }
func (r *randomizer) suspend() {
	r.add(Suspend{At: r.when(), Node: r.node(), For: r.long()})
}

// drain mostly finds no call under way. Behind a slow network it does.
func (r *randomizer) drain() {
	d := Drain{At: r.when(), Node: r.node(), Restart: r.restart()}
	r.add(d)
	if r.chance(40) {
		r.add(Slow{At: max(0, d.At-r.span(0, r.lease/10)), For: r.long(), Nodes: []string{d.Node}, By: r.span(time.Microsecond, r.lease/14)})
	}
}

func (r *randomizer) steps() {
	by := r.span(0, 4*r.lease) - 2*r.lease
	r.add(Step{At: r.when(), Node: pick(&r.dice, r.node(), storeName), By: by})
	if r.chance(30) {
		r.add(Freeze{At: r.when(), Node: pick(&r.dice, r.node(), storeName), For: r.long()})
	}
}

func (r *randomizer) drift() {
	r.add(Drift{At: r.when(), Node: pick(&r.dice, r.node(), storeName), PPM: r.between(-500, 500)})
}

func (r *randomizer) partition() {
	r.add(Partition{At: r.when(), For: r.long(), Nodes: r.some(), Lost: pick(&r.dice, "both", "requests", "replies")})
}

func (r *randomizer) slow() {
	r.add(Slow{At: r.when(), For: r.long(), Nodes: r.some(), By: r.span(0, r.lease/4)})
}

func (r *randomizer) onCalls() {
	call := pick(&r.dice, "renew", "report", "claim", "claim", "sweep")
	do := pick(&r.dice, "lose-request", "lose-reply", "lose-reply", "delay-request", "delay-reply", "double")
	r.add(OnCall{Pump: r.pump(), Call: call, Nth: r.between(1, 12), Do: do, By: r.span(0, r.lease+r.lease/4)})
}

func (r *randomizer) onEnqueues() {
	r.add(OnEnqueue{Job: r.job(), Nth: 1, Do: pick(&r.dice, "lose-request", "lose-reply", "delay-request", "double"), By: r.span(0, r.lease)})
}

// aim makes one call arrive at an instant of truth. A renewal or report only
// meets the expiry of its lease if the later ones that would prolong it are
// lost.
func (r *randomizer) aim() {
	a := Aim{Pump: r.pump(), Call: pick(&r.dice, "renew", "sweep", "claim"), Nth: r.between(1, 6), At: "expiry", Off: time.Duration(r.between(-1, 1)) * time.Microsecond}
	if a.Call == "claim" && r.chance(50) {
		a.At = "due"
	}
	r.add(a)
	if a.Call == "renew" {
		r.silence(a.Pump, "renew", a.Nth+1, 12)
	}
}

func (r *randomizer) aimReport() {
	p, nth := r.pump(), r.between(1, 3)
	r.add(Aim{Pump: p, Call: "report", Nth: nth, At: "expiry", Off: time.Duration(r.between(-1, 1)) * time.Microsecond})
	r.silence(p, "report", nth+1, 12)
	r.silence(p, "renew", r.between(1, 3), 14)
}

// aimRepeat makes a claim whose answer is lost come again when its leases are
// over.
func (r *randomizer) aimRepeat() {
	p, nth := r.pump(), r.between(1, 6)
	r.add(OnCall{Pump: p, Call: "claim", Nth: nth, Do: "lose-reply"})
	r.add(Aim{Pump: p, Call: "claim", Nth: nth + 1, At: "expiry", Off: time.Duration(r.between(-1, 1)) * time.Microsecond})
	r.silence(p, "claim", nth+2, 12)
}

// aimSweep lets a call meet a sweep: they come together or just one after the
// other.
func (r *randomizer) aimSweep() {
	r.add(Aim{Pump: r.pump(), Call: pick(&r.dice, "renew", "report", "report", "claim", "sweep"), Nth: r.between(1, 6), At: "sweep", Off: time.Duration(r.between(-1, 1)) * time.Microsecond})
}

func (r *randomizer) silence(p Address, call string, from, n int) {
	for i := range n {
		r.add(OnCall{Pump: p, Call: call, Nth: from + i, Do: "lose-request"})
	}
}

func (r *randomizer) forge() {
	r.add(Forge{
		Pump: r.pump(), Call: pick(&r.dice, "renew", "report"), Nth: r.between(1, 6),
		Field: pick(&r.dice, "worker", "claim", "attempt"), By: pick(&r.dice, -1, 1, 1, 2), After: pick(&r.dice, 0, r.span(0, r.lease)),
	})
}

func (r *randomizer) storeError() {
	class := pick(&r.dice, "fatal", "fatal", "fatal", "connection", "failover", "shutdown", "deadlock", "serialization", "lock-timeout", "exhausted", "timeout", "busy")
	s := StoreError{At: r.when(), For: r.span(0, r.lease), Class: class, Nodes: r.some()}
	if r.chance(50) {
		s.Calls = []string{pick(&r.dice, "renew", "report", "claim", "sweep")}
	}
	if class == "fatal" {
		s.For = min(s.For, r.lease/8)
		s.Nodes = []string{r.node()}
	}
	r.add(s)
	if class == "fatal" && r.heals { // what has halted for good runs again after a restart
		r.add(Crash{At: min(s.At+s.For+r.span(0, r.lease), r.sc.For), Node: s.Nodes[0], Restart: r.restart()})
	}
}

func (r *randomizer) troubles() {
	switch r.upTo(3) {
	case 0:
		r.add(Outage{At: r.when(), For: r.long()})
	case 1:
		r.add(Stall{At: r.when(), For: r.long()})
	case 2:
		r.add(Restart{At: r.when(), For: r.long()})
	}
}

func (r *randomizer) rows() {
	if r.chance(30) {
		r.add(Damage{At: r.when(), Job: r.job()})
		return
	}
	j := &r.sc.Jobs[r.upTo(len(r.sc.Jobs))]
	r.add(Hold{At: pick(&r.dice, r.when(), r.young(j)), Job: r.oneOf(j), For: r.long()})
}

// young is a time when there is still something to be done for j.
func (r *randomizer) young(j *Job) time.Duration {
	return min(j.At+r.span(0, j.In+2*r.lease), r.sc.For)
}

func (r *randomizer) forget() {
	r.add(Forget{At: r.when(), Back: r.span(0, r.lease)})
}

func (r *randomizer) twice() time.Duration {
	if r.chance(50) {
		return 0
	}
	return r.span(0, r.lease)
}

// cancel mostly comes while the job is young: later there is nothing to cancel.
func (r *randomizer) cancel() {
	j := &r.sc.Jobs[r.upTo(len(r.sc.Jobs))]
	r.add(Cancel{At: r.young(j), Job: r.oneOf(j), Force: r.chance(30), Twice: r.twice(), Lost: r.chance(30)})
}

// requeue is of no use to most jobs: those that may need it are preferred.
func (r *randomizer) requeue() {
	job := r.job()
	for range 4 {
		if i := r.upTo(len(r.sc.Jobs)); r.sc.Jobs[i].Unique != "" {
			job = r.oneOf(&r.sc.Jobs[i])
		}
	}
	r.add(Requeue{At: r.when(), Job: job, Twice: r.twice(), Lost: r.chance(30)})
}

func (r *randomizer) pauseQueue() {
	q := r.sc.Jobs[r.upTo(len(r.sc.Jobs))].Queue
	at := r.when()
	r.add(PauseQueue{At: at, Queue: q, Twice: r.twice(), Lost: r.chance(30)})
	if r.heals || r.chance(80) {
		r.add(ResumeQueue{At: min(at+r.long(), r.sc.For), Queue: q, Twice: r.twice(), Lost: r.chance(30)})
	}
	r.add(EnqueueAgain{At: r.when(), Job: r.job()})
}
