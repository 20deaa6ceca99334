package sim

import (
	"maps"
	"slices"

	"backwave/store"
	"backwave/store/memory"
)

// snapshot is what a store that forgets goes back to.
type snapshot struct {
	fault int32
	taken int64 // true time
	store *memory.Store
	pause map[string]bool // queues
	seq   uint64          // position of the history
}

func (f Damage) plan(w *world, i int32) { w.schedule(i, f.At, 0) }
func (f Hold) plan(w *world, i int32)   { w.schedule(i, f.At, f.For) }

// The first part of Forget takes the snapshot, the second goes back to it.
func (f Forget) plan(w *world, i int32) {
	from := max(0, f.At-f.Back)
	w.schedule(i, from, f.At-from)
}

func (f Damage) happen(w *world, _ int32, _ bool) {
	j := &w.jobs[w.byName[f.Job]]
	if _, ok := w.store.Lookup(j.id); !ok {
		return
	}
	w.store.Damage(j.id, "invalid page in block 7")
	w.watch.Damaged(j.id)
	w.say(storeName, "the row of %s can no longer be read", j.name)
}

func (f Hold) happen(w *world, _ int32, begin bool) {
	j := &w.jobs[w.byName[f.Job]]
	_, there := w.store.Lookup(j.id)
	switch {
	case begin && there:
		j.held = true
		w.store.Hold(j.id)
		w.watch.Held(j.id)
		w.say(storeName, "somebody's transaction holds the row of %s", j.name)
	case !begin:
		j.held = false
		w.store.Unhold(j.id)
		w.watch.Released(j.id)
		w.say(storeName, "nobody holds the row of %s", j.name)
	}
}

func (f Forget) happen(w *world, i int32, begin bool) {
	if !begin {
		w.forget(i, f)
		return
	}
	s := snapshot{fault: i, taken: w.now, store: w.store.Clone((*storeTime)(w)), pause: maps.Clone(w.paused)}
	if w.log != nil {
		s.seq = w.log.Seq()
	}
	w.snapshots = append(w.snapshots, s)
}

// forget takes the store back to what it was. Snapshots of what is thereby
// undone become snapshots of what it goes back to: a store has one history.
func (w *world) forget(i int32, f Forget) {
	k := slices.IndexFunc(w.snapshots, func(s snapshot) bool { return s.fault == i })
	was := w.snapshots[k]
	w.snapshots = slices.Delete(w.snapshots, k, k+1)
	for k := range w.snapshots {
		if s := &w.snapshots[k]; s.taken > was.taken {
			s.store, s.pause, s.seq = was.store.Clone((*storeTime)(w)), maps.Clone(was.pause), was.seq
		}
	}
	w.store, w.paused = was.store, was.pause
	for k := range w.jobs { // who holds a row now is no matter of the past
		j := &w.jobs[k]
		w.store.Unhold(j.id)
		if _, ok := w.store.Lookup(j.id); ok && j.held {
			w.store.Hold(j.id)
		} else if j.held { // there is no row any more that could be held
			j.held = false
			w.watch.Released(j.id)
		}
	}
	var rows []*store.Job
	w.store.Each(func(j *store.Job) bool { rows = append(rows, j); return true })
	w.watch.Forgot(rows, w.now)
	w.recount()
	w.audits = len(w.store.Audits())
	if w.log != nil {
		w.log.Forgot(w.now, was.seq)
	}
	w.seen.reach(sawForget)
	w.say("store", "FORGETS the last %v", f.Back)
}
