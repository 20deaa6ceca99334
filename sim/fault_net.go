package sim

import (
	"slices"
	"time"
)

func (f Partition) plan(w *world, i int32)  { w.schedule(i, f.At, f.For) }
func (f Slow) plan(w *world, i int32)       { w.schedule(i, f.At, f.For) }
func (f StoreError) plan(w *world, i int32) { w.schedule(i, f.At, f.For) }
func (f Outage) plan(w *world, i int32)     { w.schedule(i, f.At, f.For) }
func (f Stall) plan(w *world, i int32)      { w.schedule(i, f.At, f.For) }
func (f Restart) plan(w *world, i int32)    { w.schedule(i, f.At, f.For) }

func (f Partition) happen(w *world, _ int32, begin bool) {
	w.seen.reach(sawPartition)
	w.among(f.Nodes, func(n *node) {
		if f.Lost != "replies" {
			n.cut[0] += sign(begin)
		}
		if f.Lost != "requests" {
			n.cut[1] += sign(begin)
		}
		w.turn(n.spec.Name, begin, "is CUT OFF from the store", "reaches the store again")
	})
}

func (f Slow) happen(w *world, _ int32, begin bool) {
	w.among(f.Nodes, func(n *node) { n.slowness += time.Duration(sign(begin)) * f.By })
	w.trouble(w.now + 2*int64(f.By)) // what is under way arrives that much later
}

func (f StoreError) happen(w *world, i int32, begin bool) {
	w.turn(storeName, begin, "answers with errors of class "+f.Class, "answers without errors of class "+f.Class)
	if begin {
		w.net.errors = append(w.net.errors, i)
		return
	}
	w.net.errors = slices.DeleteFunc(w.net.errors, func(k int32) bool { return k == i })
}

func (Outage) happen(w *world, _ int32, begin bool) {
	w.seen.reach(sawOutage)
	w.net.outage += sign(begin)
	w.turn(storeName, begin, "answers NOBODY", "answers again")
}

func (f Stall) happen(w *world, _ int32, begin bool) {
	w.turn(storeName, begin, "STALLS", "goes on")
	if begin {
		w.net.stall = append(w.net.stall, int64(f.At+f.For))
		return
	}
	w.net.stall = slices.DeleteFunc(w.net.stall, func(end int64) bool { return end <= w.now })
}

func (Restart) happen(w *world, _ int32, begin bool) {
	w.net.refuse += sign(begin)
	w.turn(storeName, begin, "goes DOWN for a restart", "is up again")
}

// turn tells the begin or the end of something.
func (w *world) turn(who string, begin bool, first, last string) {
	if begin {
		w.say(who, "%s", first)
		return
	}
	w.say(who, "%s", last)
}
