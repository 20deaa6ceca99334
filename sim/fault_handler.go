package sim

import "time"

func (OnHandler) plan(*world, int32) {} // looked up at the call

// happen is called at the end of a pause.
func (OnHandler) happen(w *world, i int32, _ bool) {
	for k, s := range w.standing {
		if s.fault == i {
			w.standing = append(w.standing[:k], w.standing[k+1:]...)
			w.tell(s.node, "goes on")
			w.resume(s.node)
			return
		}
	}
}

// standing is a node that a handler's call has made to stand still.
type standing struct {
	fault int32
	node  *node
}

// blow is what happens to one call of a handler.
type blow struct {
	fault                  int32
	loseRequest, loseReply bool
	refuse                 bool
	crash, crashAfter      bool
	by                     time.Duration // of a crash: until the node is up again; of a pause
	there, back            time.Duration // added
	pause, pauseAfter      bool
}

// hitBy counts the call that run i makes now, and returns what happens to it.
func (w *world) hitBy(i int32) (b blow) {
	r := &w.runs[i]
	r.calls++
	for k, t := range w.sc.Timeline {
		f, ok := t.(OnHandler)
		if !ok || w.byName[f.Job] != r.job || max(1, f.Attempt) != r.key.Attempt || max(1, f.Nth) != r.calls {
			continue
		}
		b.fault = int32(k)
		w.landed[k] = true
		w.trouble(w.now + int64(f.By))
		switch f.Do {
		case "lose-request":
			b.loseRequest = true
		case "lose-reply":
			b.loseReply = true
		case "delay-request":
			b.there += f.By
		case "delay-reply":
			b.back += f.By
		case "refuse":
			b.refuse = true
		case "crash":
			b.crash, b.by = true, max(f.By, time.Millisecond)
		case "crash-after":
			b.crashAfter, b.by = true, max(f.By, time.Millisecond)
		case "pause":
			b.pause, b.by = true, f.By
		case "pause-after":
			b.pauseAfter, b.by = true, f.By
		}
	}
	return b
}

// stand makes the node of a handler stand still.
func (w *world) stand(n *node, b blow, when string) {
	w.seen.reach(sawPause)
	w.tell(n, "STANDS STILL for %v%s", b.by, when)
	w.standing = append(w.standing, standing{b.fault, n})
	w.stop(n)
	w.expect(event{at: w.now + int64(b.by), kind: evFault, ref: b.fault, step: 1})
}
