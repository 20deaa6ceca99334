package sim

import "backwave/store"

func (f Cancel) plan(w *world, i int32)       { w.schedule(i, f.At, f.Twice) }
func (f Requeue) plan(w *world, i int32)      { w.schedule(i, f.At, f.Twice) }
func (f PauseQueue) plan(w *world, i int32)   { w.schedule(i, f.At, f.Twice) }
func (f ResumeQueue) plan(w *world, i int32)  { w.schedule(i, f.At, f.Twice) }
func (f EnqueueAgain) plan(w *world, i int32) { w.schedule(i, f.At, 0) }

func (f Cancel) happen(w *world, i int32, _ bool) {
	w.say("operator", "cancels %s", f.Job)
	w.act(i, store.Cancel{Job: w.jobs[w.byName[f.Job]].id, Force: f.Force}, f.Lost)
}

func (f Requeue) happen(w *world, i int32, _ bool) {
	w.say("operator", "requeues %s", f.Job)
	w.act(i, store.Requeue{Job: w.jobs[w.byName[f.Job]].id}, f.Lost)
}

func (f PauseQueue) happen(w *world, i int32, _ bool) {
	w.say("operator", "pauses queue %s", f.Queue)
	w.act(i, store.Pause{Queue: f.Queue}, f.Lost)
}

func (f ResumeQueue) happen(w *world, i int32, _ bool) {
	w.say("operator", "resumes queue %s", f.Queue)
	w.act(i, store.Resume{Queue: f.Queue}, f.Lost)
}

func (f EnqueueAgain) happen(w *world, _ int32, _ bool) { w.sendEnqueue(w.byName[f.Job]) }
