package sim

// storeName stands for the store where a fault names a clock.
const storeName = "store"

func (f Step) plan(w *world, i int32)   { w.schedule(i, f.At, 0) }
func (f Drift) plan(w *world, i int32)  { w.schedule(i, f.At, 0) }
func (f Freeze) plan(w *world, i int32) { w.schedule(i, f.At, f.For) }

func (f Step) happen(w *world, _ int32, _ bool) {
	if f.Node == storeName {
		w.seen.reach(sawStoreStep)
		w.storeClock.step(w.now, f.By)
		w.watch.StoreClockStepped(f.By, w.now)
		w.say(storeName, "its clock steps by %v", f.By)
		return
	}
	n := w.nodeNamed(f.Node)
	w.seen.reach(sawWallStep)
	n.wall.step(w.now, f.By)
	w.tell(n, "its wall clock steps by %v", f.By)
}

func (f Drift) happen(w *world, _ int32, _ bool) {
	if f.Node == storeName {
		w.storeClock.drift(w.now, f.PPM)
		return
	}
	n := w.nodeNamed(f.Node)
	n.wall.drift(w.now, f.PPM)
	n.mono.drift(w.now, f.PPM)
	w.rearm(n)
}

func (f Freeze) happen(w *world, _ int32, begin bool) {
	if f.Node == storeName {
		w.storeClock.freeze(w.now, sign(begin))
		return
	}
	w.nodeNamed(f.Node).wall.freeze(w.now, sign(begin))
}
