package bubble

import (
	"slices"
	"time"

	"backwave/engine"
	"backwave/sim"
	"backwave/store"
)

// setOut starts the nodes, the clients, and everything that is to go wrong.
func (w *world) setOut() {
	people := newPeople(w)
	client := engine.NewClient(engine.ClientConfig{Store: people, Queue: w.sc.Groups[0].Config.Queues[0].Name})
	for _, n := range w.nodes {
		w.task(func() {
			if w.sleep(n.spec.Start) {
				w.boot(n)
			}
		})
	}
	for _, j := range w.jobs {
		w.task(func() {
			if w.sleep(j.at) {
				w.enqueue(client, j)
			}
		})
	}
	for i, f := range w.sc.Timeline {
		switch f := f.(type) {
		case sim.Cancel:
			w.command(people, i, f.At, f.Twice, f.Lost, store.Cancel{Job: w.named(f.Job).id, Force: f.Force})
		case sim.Requeue:
			w.command(people, i, f.At, f.Twice, f.Lost, store.Requeue{Job: w.named(f.Job).id})
		case sim.PauseQueue:
			w.command(people, i, f.At, f.Twice, f.Lost, store.Pause{Queue: f.Queue})
		case sim.ResumeQueue:
			w.command(people, i, f.At, f.Twice, f.Lost, store.Resume{Queue: f.Queue})
		case sim.EnqueueAgain:
			w.at(f.At, func() { w.enqueue(client, w.named(f.Job)); w.reached("enqueue-again") })
		default:
			w.nodeFault(f)
			w.networkFault(f)
			w.storeFault(f)
		}
	}
}

// at does something later.
func (w *world) at(at time.Duration, do func()) {
	w.task(func() {
		if w.sleep(at) {
			do()
		}
	})
}

// span does something for a while: for good, if that is 0.
func (w *world) span(at, length time.Duration, begin, end func()) {
	w.at(at, func() {
		begin()
		if length > 0 {
			w.sleep(length)
		} else {
			<-w.ctx.Done()
		}
		end()
	})
}

// locked is span for what is guarded by w.mu.
func (w *world) locked(at, length time.Duration, change func(sign int)) {
	turn := func(sign int) func() {
		return func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			change(sign)
		}
	}
	w.span(at, length, turn(+1), turn(-1))
}

func (w *world) node(name string) *node {
	return w.nodes[slices.IndexFunc(w.nodes, func(n *node) bool { return n.spec.Name == name })]
}

func (w *world) among(names []string, do func(*node)) {
	for _, n := range w.nodes {
		if len(names) == 0 || slices.Contains(names, n.spec.Name) {
			do(n)
		}
	}
}

func (w *world) nodeFault(f sim.Fault) {
	switch f := f.(type) {
	case sim.Crash:
		w.at(f.At, func() {
			if w.crash(w.node(f.Node), nil, f.Restart) {
				w.reached("crash")
			}
		})
	case sim.Start:
		w.at(f.At, func() { w.boot(w.node(f.Node)); w.reached("start") })
	case sim.Drain:
		w.at(f.At, func() {
			if w.drain(w.node(f.Node)) {
				w.reached("drain")
				if f.Restart > 0 && w.sleep(f.Restart) {
					w.boot(w.node(f.Node))
				}
			}
		})
	case sim.Pause:
		n := w.node(f.Node)
		w.span(f.At, f.For, func() { n.stop(); w.reached("pause") }, n.resume)
	case sim.Drift:
		if f.Node != "store" {
			w.at(f.At, func() { w.node(f.Node).clock.drift(f.PPM); w.reached("drift/node") })
		}
	}
}

func (w *world) networkFault(f sim.Fault) {
	switch f := f.(type) {
	case sim.Partition:
		w.locked(f.At, f.For, func(sign int) {
			w.among(f.Nodes, func(n *node) {
				if f.Lost != "replies" {
					n.cut[0] += sign
				}
				if f.Lost != "requests" {
					n.cut[1] += sign
				}
			})
		})
	case sim.Slow:
		w.locked(f.At, f.For, func(sign int) {
			w.among(f.Nodes, func(n *node) { n.slowness += time.Duration(sign) * f.By })
			w.trouble(2 * f.By)
			w.hit("slow")
		})
	}
}

func (w *world) storeFault(f sim.Fault) {
	switch f := f.(type) {
	case sim.StoreError:
		w.locked(f.At, f.For, func(sign int) {
			if sign > 0 {
				w.net.errors = append(w.net.errors, &f)
			} else {
				w.net.errors = slices.DeleteFunc(w.net.errors, func(e *sim.StoreError) bool { return e == &f })
			}
		})
	case sim.Outage:
		w.locked(f.At, f.For, func(sign int) { w.net.outage += sign })
	case sim.Restart:
		w.locked(f.At, f.For, func(sign int) { w.net.refuse += sign })
	case sim.Stall:
		end := int64(f.At + f.For)
		w.locked(f.At, f.For, func(sign int) {
			if sign > 0 {
				w.net.stall = append(w.net.stall, end)
			} else {
				w.net.stall = slices.DeleteFunc(w.net.stall, func(e int64) bool { return e == end })
			}
		})
	case sim.Damage:
		w.at(f.At, func() { w.damage(w.named(f.Job)) })
	case sim.Hold:
		j := w.named(f.Job)
		w.locked(f.At, f.For, func(sign int) { w.hold(j, sign) })
	case sim.Step, sim.Drift, sim.Freeze:
		w.storeClock(f)
	}
}

// storeClock bends the store's clock. Those of nodes can drift, not step: what
// package time hands out in a bubble has one time behind both readings.
func (w *world) storeClock(f sim.Fault) {
	bend := func(kind string, change func(sign int)) func(int) {
		return func(sign int) {
			w.clock.bend(w.time(), func() { change(sign) })
			w.bent = true
			w.hit(kind)
		}
	}
	switch f := f.(type) {
	case sim.Step:
		if f.Node == "store" {
			w.at(f.At, func() {
				w.mu.Lock()
				defer w.mu.Unlock()
				bend("step/store", func(int) { w.clock.base += int64(f.By) })(0)
				w.watch.StoreClockStepped(f.By, w.time())
			})
		}
	case sim.Drift:
		if f.Node == "store" {
			w.at(f.At, func() {
				w.mu.Lock()
				defer w.mu.Unlock()
				bend("drift/store", func(int) { w.clock.ppm = int64(f.PPM) })(0)
			})
		}
	case sim.Freeze:
		if f.Node == "store" {
			w.locked(f.At, f.For, bend("freeze/store", func(sign int) { w.clock.frozen += sign }))
		}
	}
}

func (w *world) damage(j *job) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, ok := w.store.Lookup(j.id); ok {
		w.store.Damage(j.id, "invalid page in block 7")
		w.watch.Damaged(j.id)
		j.damaged = true
		w.hit("damage")
	}
}

// hold locks a row that is there, as somebody's transaction does.
func (w *world) hold(j *job, sign int) {
	if _, ok := w.store.Lookup(j.id); !ok && j.held == 0 {
		return
	}
	j.held = max(0, j.held+sign)
	if j.held > 0 {
		w.store.Hold(j.id)
		w.watch.Held(j.id)
		w.hit("hold")
	} else {
		w.store.Unhold(j.id)
		w.watch.Released(j.id)
	}
}
