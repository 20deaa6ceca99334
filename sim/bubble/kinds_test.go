package bubble

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"backwave/engine"
	"backwave/engine/pump"
	"backwave/sim"
	"backwave/store"
)

// kind is a kind of fault that is played here, and a plan in which it strikes.
type kind struct {
	name   string // by which world.hits counts it, when it has had an effect
	faults []sim.Fault
	run    []sim.Script // of every job; nil = works for 1 s
}

// every returns the same fault for the first calls of a kind by a pump.
func every(a sim.Address, call, do string, by time.Duration) (out []sim.Fault) {
	for nth := 1; nth <= 30; nth++ {
		out = append(out, sim.OnCall{Pump: a, Call: call, Nth: nth, Do: do, By: by})
	}
	return out
}

// kinds lists all that can be played here.
func kinds() []kind {
	at, long := 5*time.Second, 4*time.Second
	n1 := sim.Address{Node: "n1"}
	list := []kind{
		{"crash", []sim.Fault{sim.Crash{At: at, Node: "n1", Restart: time.Second}}, nil},
		{"start", []sim.Fault{sim.Crash{At: at, Node: "n1"}, sim.Start{At: at + time.Second, Node: "n1"}}, nil},
		{"drain", []sim.Fault{sim.Drain{At: at, Node: "n1", Restart: time.Second}}, nil},
		{"pause", []sim.Fault{sim.Pause{At: at, Node: "n1", For: long}}, nil},
		{"drift/node", []sim.Fault{sim.Drift{At: at, Node: "n1", PPM: 300}}, nil},
		{"drift/store", []sim.Fault{sim.Drift{At: at, Node: "store", PPM: -300}}, nil},
		{"step/store", []sim.Fault{sim.Step{At: at, Node: "store", By: -time.Hour}}, nil},
		{"freeze/store", []sim.Fault{sim.Freeze{At: at, Node: "store", For: long}}, nil},
		{"partition/requests", []sim.Fault{sim.Partition{At: at, For: long, Lost: "requests"}}, nil},
		{"partition/replies", []sim.Fault{sim.Partition{At: at, For: long, Nodes: []string{"n1"}, Lost: "replies"}}, nil},
		{"slow", []sim.Fault{sim.Slow{At: at, For: long, By: 50 * time.Millisecond}}, nil},
		{"aim/expiry", []sim.Fault{sim.Aim{Pump: n1, Call: "renew", Nth: 2, At: "expiry", Off: time.Microsecond}}, nil},
		{"aim/due", []sim.Fault{sim.Aim{Pump: n1, Call: "claim", Nth: 2, At: "due"}}, nil},
		{"forge/arrived", []sim.Fault{sim.Forge{Pump: n1, Call: "report", Nth: 1, Field: "claim"}, sim.Forge{Pump: n1, Call: "renew", Nth: 1, Field: "worker"}}, nil},
		{"outage", []sim.Fault{sim.Outage{At: at, For: long}}, nil},
		{"stall", []sim.Fault{sim.Stall{At: at, For: long}}, nil},
		{"restart", []sim.Fault{sim.Restart{At: at, For: long}}, nil},
		{"damage", []sim.Fault{sim.Damage{At: at, Job: "j-12"}, sim.Damage{At: at, Job: "late"}}, nil},
		{"hold", []sim.Fault{sim.Hold{At: at, For: long, Job: "j-1"}}, nil},
		{"enqueue-again", []sim.Fault{sim.EnqueueAgain{At: at, Job: "j-1"}}, nil},
		{"people/store.Cancel", []sim.Fault{sim.Cancel{At: at, Job: "late"}}, nil},
		{"people/store.Requeue", []sim.Fault{sim.Requeue{At: at, Job: "j-1"}}, []sim.Script{{End: "discard"}, {For: time.Second}}},
		{"people/store.Pause", []sim.Fault{sim.PauseQueue{At: at, Queue: "a"}}, nil},
		{"people/store.Resume", []sim.Fault{sim.PauseQueue{At: at, Queue: "a"}, sim.ResumeQueue{At: at + long, Queue: "a"}}, nil},
		{"people/repeat", []sim.Fault{sim.Cancel{At: at, Job: "late", Force: true, Twice: time.Second}}, nil},
		{"people/lost", []sim.Fault{sim.Cancel{At: at, Job: "late", Twice: time.Second, Lost: true}}, nil},
	}
	for _, do := range []string{"lose-request", "lose-reply", "delay-request", "delay-reply", "double"} {
		var calls []sim.Fault
		for _, call := range []string{"claim", "renew", "report", "sweep"} {
			calls = append(calls, sim.OnCall{Pump: n1, Call: call, Nth: 2, Do: do, By: time.Second})
		}
		list = append(list, kind{"on-call/" + do, calls, nil}, kind{"on-enqueue/" + do, []sim.Fault{sim.OnEnqueue{Job: "j-3", Do: do, By: time.Second}}, nil})
	}
	for class := store.FaultFatal; class <= store.FaultBusy; class++ {
		list = append(list, kind{"store-error/" + class.String(), []sim.Fault{sim.StoreError{At: at, For: time.Second, Class: class.String(), Nodes: []string{"n1"}}}, nil})
	}
	for _, end := range sim.Ends {
		switch end {
		case "unknown", "undecodable", "hang": // no handler ends so: see the rows below
		default:
			list = append(list, kind{"handler/" + end, nil, []sim.Script{{For: time.Second, End: end}, {For: time.Second}}})
		}
	}
	return append(list,
		kind{"end/unknown-name", nil, []sim.Script{{End: "unknown"}}},
		kind{"end/undecodable", nil, []sim.Script{{End: "undecodable"}}},
		kind{"handler/hang", nil, []sim.Script{{End: "hang", OnCancel: "ignore"}}},
		kind{"told/" + engine.ErrDraining.Error(), nil, []sim.Script{{End: "hang"}}},
	)
}

// kindPlan is a plan in which two nodes run twelve jobs, one after another, and
// one that is due late.
func kindPlan(k kind) *sim.Scenario {
	return &sim.Scenario{
		Name: k.name, Level: sim.Adversarial, For: 30 * time.Second, Timeline: k.faults,
		Groups: []sim.Group{{Name: "g", Config: pump.Config{
			Queues: []pump.Queue{{Name: "a"}}, PoolSize: 3, LeaseDuration: 3 * time.Second, PollInterval: 200 * time.Millisecond,
			MaintenanceInterval: time.Second, ShutdownTimeout: 2 * time.Second, AbandonAfter: 5 * time.Second,
		}}},
		Nodes: []sim.Node{{Name: "n1"}, {Name: "n2"}},
		Jobs: []sim.Job{
			{ID: "j", Count: 12, Every: time.Second, Run: k.run},
			{ID: "late", In: 10 * time.Second, Run: k.run},
		},
	}
}

// TestEachKind shows that no kind of fault is listed in vain.
func TestEachKind(t *testing.T) {
	for _, k := range kinds() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			l := &tally{hits: map[string]int{}}
			play(t, kindPlan(k), max(1, *only), false, l)
			if l.hits[k.name] == 0 && !t.Failed() {
				t.Errorf("it had no effect; what had: %v", l.hits)
			}
		})
	}
}

// Pumps that poll once in a quarter of an hour hear of every job by a hint, and
// only those that serve its queue.
func TestHints(t *testing.T) {
	l := &tally{hits: map[string]int{}}
	sc := kindPlan(kind{"hints", nil, nil})
	sc.Level, sc.Nodes, sc.Jobs, sc.Net.Hints = sim.Pristine, sc.Nodes[:1], nil, "all"
	other := sc.Groups[0]
	other.Name, other.Config.Queues = "h", []pump.Queue{{Name: "b"}}
	sc.Groups = append(sc.Groups, other)
	for i := range sc.Groups {
		sc.Groups[i].Config.PollInterval = 15 * time.Minute
	}
	for i := range 6 {
		id, at := fmt.Sprintf("j-%d", i), time.Duration(2+3*i)*time.Second
		sc.Jobs = append(sc.Jobs, sim.Job{ID: id, At: at, Queue: []string{"a", "b"}[i%2]})
		sc.Expect.Jobs = append(sc.Expect.Jobs, sim.ExpectJob{Job: id, State: store.Succeeded, By: at + 2*time.Second})
	}
	play(t, sc, max(1, *only), false, l)
}

// The answer to a claim comes when the pump has given it up, has asked again
// under the same number, has run the job and reported it: nothing runs twice.
func TestLateAnswer(t *testing.T) {
	l := &tally{hits: map[string]int{}}
	sc := kindPlan(kind{"late answers", every(sim.Address{Node: "n1"}, "claim", "delay-reply", 0), []sim.Script{{For: 10 * time.Millisecond}}})
	for i := range sc.Timeline {
		f := sc.Timeline[i].(sim.OnCall)
		f.By = time.Duration(i%2) * 750 * time.Millisecond // given up after 500 ms, sent again 200 ms later
		sc.Timeline[i] = f
	}
	sc.Nodes = sc.Nodes[:1]
	onceEach(sc)
	play(t, sc, max(1, *only), false, l)
}

// A report is lost, or its answer is, and it is sent again while the lease
// lives: no work is done twice.
func TestLostReport(t *testing.T) {
	for _, do := range []string{"lose-request", "lose-reply"} {
		t.Run(do, func(t *testing.T) {
			l := &tally{hits: map[string]int{}}
			sc := kindPlan(kind{"lost reports", every(sim.Address{Node: "n1"}, "report", do, 0), []sim.Script{{For: time.Second}}})
			for i := range sc.Timeline {
				f := sc.Timeline[i].(sim.OnCall)
				f.Nth = 2 * f.Nth
				sc.Timeline[i] = f
			}
			onceEach(sc)
			play(t, sc, max(1, *only), false, l)
			if n := l.hits["on-call/"+do]; n < 3 {
				t.Errorf("%d reports were hit, want at least 3", n)
			}
		})
	}
}

// Every pump of every group has a handler that ignores the drain. Run names all
// of them but one, which returns after its group has given up on it and before
// the other group has; and no pump claims any more.
func TestDrainOfManyPumps(t *testing.T) {
	l := &tally{hits: map[string]int{}}
	sc := kindPlan(kind{"many pumps", []sim.Fault{sim.Drain{At: 5 * time.Second, Node: "n1"}}, nil})
	sc.Nodes, sc.Jobs, sc.Groups[0].Pumps, sc.Groups[0].Config.PoolSize = sc.Nodes[:1], nil, 2, 1
	other := sc.Groups[0]
	other.Name, other.Config.Queues, other.Config.FinishTimeout = "h", []pump.Queue{{Name: "b"}}, 10*time.Second
	sc.Groups = append(sc.Groups, other)
	for i := range 6 { // one more than fits into each group
		sc.Jobs = append(sc.Jobs, sim.Job{ID: fmt.Sprintf("j-%d", i), At: time.Duration(i) * 100 * time.Millisecond, Queue: []string{"a", "b"}[i%2], Run: []sim.Script{{End: "hang", OnCancel: "ignore"}}})
	}
	sc.Jobs[0].Run = []sim.Script{{For: 9 * time.Second, OnCancel: "ignore"}}
	play(t, sc, max(1, *only), false, l)
	if n := l.hits["abandoned"]; n != 3 && !t.Failed() {
		t.Errorf("Run named %d handlers, want 3", n)
	}
}

// A drain waits for handlers, and no longer.
func TestDrainEndsWithItsHandlers(t *testing.T) {
	l := &tally{hits: map[string]int{}}
	play(t, kindPlan(kind{"drain", []sim.Fault{sim.Drain{At: 5500 * time.Millisecond, Node: "n1"}}, nil}), max(1, *only), false, l)
	if n := l.hits["drained early"]; n != 2 && !t.Failed() {
		t.Errorf("%d of 2 processes ended long before their timeout", n)
	}
}

// onceEach expects every job of a plan to succeed in its first attempt.
func onceEach(sc *sim.Scenario) {
	for i := range 12 {
		sc.Expect.Jobs = append(sc.Expect.Jobs, sim.ExpectJob{Job: fmt.Sprintf("j-%d", i+1), State: store.Succeeded, Ends: []store.EndKind{store.EndSuccess}, Starts: &sim.Range{Min: 1, Max: 1}})
	}
}

// missing says why a fault is not played here; "" if it is.
func missing(f sim.Fault) string {
	const wall = "in a bubble one time stands behind the wall clock and the monotonic one"
	switch f := f.(type) {
	case sim.Suspend:
		return wall
	case sim.Step:
		if f.Node != "store" {
			return wall
		}
	case sim.Freeze:
		if f.Node != "store" {
			return wall
		}
	case sim.Aim:
		if f.At == "sweep" {
			return "a call cannot be put into one instant with another in a given order"
		}
	case sim.Forget:
		return "the engine cannot tell a store that forgets from one that lies; simulated worlds have it"
	case sim.OnHandler:
		return "it is about the calls of handlers in Go, and scripts make none"
	case sim.Crash, sim.Start, sim.Drain, sim.Pause, sim.Drift, sim.Partition, sim.Slow, sim.OnCall, sim.OnEnqueue, sim.Forge,
		sim.StoreError, sim.Outage, sim.Stall, sim.Restart, sim.Damage, sim.Hold,
		sim.Cancel, sim.Requeue, sim.PauseQueue, sim.ResumeQueue, sim.EnqueueAgain:
	default:
		return fmt.Sprintf("nobody has thought of a %T", f)
	}
	return ""
}

// adapted returns what of a plan can be played here, and whether that is all of
// it. A process knows the name of a job or does not: a job whose first script
// ends as unknown is unknown for good.
func adapted(sc *sim.Scenario) (out *sim.Scenario, whole bool) {
	c := *sc
	c.Timeline = slices.DeleteFunc(slices.Clone(sc.Timeline), func(f sim.Fault) bool { return missing(f) != "" })
	whole = len(c.Timeline) == len(sc.Timeline)
	c.Jobs = slices.Clone(sc.Jobs)
	for i := range c.Jobs {
		j := &c.Jobs[i]
		j.Run = slices.Clone(j.Run)
		for k := range j.Run {
			if known := j.Run[0].End != "unknown"; known == (j.Run[k].End == "unknown") {
				whole = false
				j.Run[k].End = map[bool]string{true: "error", false: "unknown"}[known]
			}
		}
	}
	return &c, whole
}
