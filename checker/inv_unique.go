package checker

import "backwave/store"

// alone checks unique: at most one job that is not terminal holds a key.
func (w *Watch) alone(j *jobBook, ch *Change) {
	if j.key == "" {
		return
	}
	was, is := ch.Before.State != 0 && !ch.Before.State.Terminal(), !ch.After.State.Terminal()
	switch {
	case is && !was:
		if h := w.keys[j.key]; h != nil && h != j {
			w.breach(ruleUniqueKey, j, "is %v with the key %q, which job %s holds as well", ch.After.State, j.key, w.nameOf(h.id))
		}
		w.keys[j.key] = j
	case was && !is && w.keys[j.key] == j:
		delete(w.keys, j.key)
	}
}

// heldBy checks that an enqueue is refused for its key only while that is
// held, and with the holder's id.
func (w *Watch) heldBy(req *store.Enqueue, r *store.Enqueued) {
	for i := range r.Rows {
		if i >= len(req.Jobs) || r.Rows[i].Status != store.EnqueueHeld {
			continue
		}
		key := req.Jobs[i].UniqueKey
		h := w.keys[key]
		if h == nil || h.id != r.Rows[i].Holder {
			w.breach(ruleUniqueKey, w.jobOf[r.Rows[i].Holder], "was named as the holder of the key %q, which it is not", key)
		}
	}
}
