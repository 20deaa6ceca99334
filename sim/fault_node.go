package sim

func (f Crash) plan(w *world, i int32)   { w.schedule(i, f.At, 0) }
func (f Start) plan(w *world, i int32)   { w.schedule(i, f.At, 0) }
func (f Drain) plan(w *world, i int32)   { w.schedule(i, f.At, 0) }
func (f Pause) plan(w *world, i int32)   { w.schedule(i, f.At, f.For) }
func (f Suspend) plan(w *world, i int32) { w.schedule(i, f.At, f.For) }

func (f Crash) happen(w *world, _ int32, _ bool) {
	n := w.nodeNamed(f.Node)
	if !n.up {
		return
	}
	w.seen.reach(sawCrash)
	w.tell(n, "CRASHES")
	w.crash(n, f.Restart)
}

func (f Start) happen(w *world, _ int32, _ bool) { w.boot(w.nodeNamed(f.Node)) }

func (f Drain) happen(w *world, _ int32, _ bool) {
	n := w.nodeNamed(f.Node)
	w.tell(n, "is asked to shut down")
	w.shutDown(n, f.Restart)
}

func (f Pause) happen(w *world, _ int32, begin bool) {
	n := w.nodeNamed(f.Node)
	if begin {
		w.tell(n, "STANDS STILL for %v", f.For)
		w.stop(n)
		return
	}
	w.seen.reach(sawPause)
	w.tell(n, "goes on")
	w.resume(n)
}

func (f Suspend) happen(w *world, _ int32, begin bool) {
	n := w.nodeNamed(f.Node)
	n.mono.freeze(w.now, sign(begin))
	if begin {
		w.tell(n, "is SUSPENDED for %v", f.For)
		w.stop(n)
		return
	}
	w.seen.reach(sawSuspend)
	w.tell(n, "wakes from its suspend")
	w.rearm(n)
	w.resume(n)
}
