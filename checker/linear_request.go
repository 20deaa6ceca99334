package checker

import (
	"fmt"

	"backwave/store"
)

// checkRequests judges that an action was carried out once, however often it
// was sent: of the answers to one request id at most one says that it changed
// something now, and a repeat says what the first answer said.
func (l *linear) checkRequests(v verdictSide) {
	for _, id := range l.asked {
		if r := l.requests[id]; !r.mixed && len(r.calls) > 0 {
			l.checkRequest(id, r, v)
		}
	}
}

func (l *linear) checkRequest(id string, r *requestStory, v verdictSide) {
	var first *store.Done // the answer that was no repeat
	var repeats []known
	var calls []*callStory
	unseen := 0
	for _, i := range r.calls {
		c := &l.calls[i]
		ks, n := l.knowns(c, v)
		unseen += n
		for _, k := range ks {
			d, ok := k.reply.(*store.Done)
			switch {
			case !ok || d.Result == store.DoBusy:
			case d.Repeat:
				repeats, calls = append(repeats, k), append(calls, c)
			case first != nil && first.Result == store.DoChanged && d.Result == store.DoChanged:
				l.violated(v, l.actionFinding(c, k, fmt.Sprintf("request %q: the action was carried out twice", id)))
			case first == nil || first.Result != store.DoChanged:
				first = d
			}
		}
	}
	for i, k := range repeats {
		d := k.reply.(*store.Done)
		switch {
		case first == nil && unseen == 0 && len(repeats) == len(r.calls):
			l.violated(v, l.actionFinding(calls[i], k, fmt.Sprintf("request %q: the answer is a repeat, but there was no first", id)))
			return
		case first != nil && first.Result == store.DoChanged && d.Result != first.Result:
			l.violated(v, l.actionFinding(calls[i], k, fmt.Sprintf("request %q: a repeat was told %v, the first answer was %v", id, d.Result, first.Result)))
		}
	}
}

func (l *linear) actionFinding(c *callStory, k known, message string) Finding {
	f := Finding{Invariant: "linearizable", At: k.at, Call: c.id, Message: message}
	switch cmd := c.req.(*store.Do).Command.(type) {
	case store.Cancel:
		f.Job = cmd.Job
	case store.Requeue:
		f.Job = cmd.Job
	case store.Pause, store.Resume:
	}
	return f
}
