package checker

import (
	"fmt"
	"slices"
	"time"

	"backwave/history"
	"backwave/store"
)

// refWorld is clients and a bad network around a store. Every choice comes
// from draw, which returns a number in [0, n), so that rapid and a fixed
// generator can both drive it.
type refWorld struct {
	draw    func(n int) int
	apply   func(store.Request) store.Reply
	now     *store.Instant // the store's clock
	log     *history.Log
	call    uint64
	time    int64
	flight  []refCall
	replies []refReply
	workers []*refWorker
	sent    []*store.Do
	number  int
	steps   bool // the store's clock may step back
	forge   bool
}

type refCall struct {
	id  uint64
	req store.Request
	w   *refWorker
}

type refReply struct {
	refCall
	reply store.Reply
}

type refWorker struct {
	name   string
	number uint64
	claims []*store.Claim
	held   []store.LeaseKey // everything it was ever given
	said   []*store.Report
}

const refJobs = 4

func jobID(n int) store.JobID { return store.NewJobID(1_700_000_000_000, 0, uint64(n)) }

func newWorld(bug string, draw func(int) int) *refWorld {
	s := newRef(bug)
	return worldOver(s.apply, &s.now, draw)
}

func worldOver(apply func(store.Request) store.Reply, now *store.Instant, draw func(int) int) *refWorld {
	w := &refWorld{draw: draw, apply: apply, now: now, log: history.NewLog(), workers: []*refWorker{{name: "n1"}, {name: "n2"}, {name: "n3"}}}
	w.steps = draw(3) == 0
	w.forge = draw(2) == 0
	return w
}

// run makes n random steps.
func (w *refWorld) run(n int) *history.Log {
	quiet := w.draw(2) == 0 // half the worlds lose little
	for range n {
		w.time += int64(time.Millisecond)
		switch k := w.draw(20); {
		case k < 6:
			w.send(w.request())
		case k < 12:
			w.deliver()
		case k < 16:
			w.answer()
		case k < 18:
			*w.now = w.now.Add(time.Duration(w.draw(12)) * 500 * time.Millisecond)
		case k == 18 && w.steps && w.draw(4) == 0:
			*w.now = w.now.Add(-time.Duration(w.draw(30)) * time.Second)
		case k == 19 && (!quiet || w.draw(5) == 0):
			w.lose()
		}
	}
	return w.log
}

func (w *refWorld) send(x *refWorker, req store.Request) {
	if req == nil {
		return
	}
	w.call++
	w.log.Sent(w.time, w.call, x.name, req)
	w.flight = append(w.flight, refCall{w.call, req, x})
	if w.draw(15) == 0 {
		w.log.Doubled(w.time, w.call)
		w.flight = append(w.flight, refCall{w.call, req, x})
	}
}

func (w *refWorld) deliver() {
	if len(w.flight) == 0 {
		return
	}
	i := w.draw(len(w.flight))
	c := w.flight[i]
	w.flight = slices.Delete(w.flight, i, i+1)
	reply := w.apply(c.req)
	w.log.Applied(w.time, c.id, reply)
	w.replies = append(w.replies, refReply{c, reply})
}

func (w *refWorld) answer() {
	if len(w.replies) == 0 {
		return
	}
	i := w.draw(len(w.replies))
	p := w.replies[i]
	w.replies = slices.DeleteFunc(slices.Delete(w.replies, i, i+1), func(o refReply) bool { return o.id == p.id })
	again := slices.ContainsFunc(w.flight, func(c refCall) bool { return c.id == p.id })
	w.log.Answered(w.time, p.id, p.reply)
	if again { // the other copy is carried out, its reply heard by nobody
		for k, c := range w.flight {
			if c.id == p.id && w.draw(2) == 0 {
				w.flight = slices.Delete(w.flight, k, k+1)
				w.log.Applied(w.time, c.id, w.apply(c.req))
				break
			}
		}
		w.flight = slices.DeleteFunc(w.flight, func(c refCall) bool { return c.id == p.id })
	}
	if cl, ok := p.reply.(*store.Claimed); ok {
		for _, l := range cl.Leases {
			p.w.held = append(p.w.held, l.Key)
		}
	}
}

// lose drops a request or a reply on its way.
func (w *refWorld) lose() {
	if w.draw(2) == 0 && len(w.flight) > 0 {
		i := w.draw(len(w.flight))
		c := w.flight[i]
		w.flight = slices.Delete(w.flight, i, i+1)
		if !slices.ContainsFunc(w.flight, func(o refCall) bool { return o.id == c.id }) && w.draw(2) == 0 {
			w.log.Lost(w.time, c.id)
		}
	} else if len(w.replies) > 0 {
		i := w.draw(len(w.replies))
		w.replies = slices.Delete(w.replies, i, i+1)
	}
}

var refTerms = &store.Terms{Default: store.Policy{MaxAttempts: 3}, ByName: []store.NamedPolicy{{Name: "b", Policy: store.Policy{MaxAttempts: 2, First: time.Second, Factor: 3}}}}

func (w *refWorld) request() (*refWorker, store.Request) {
	x := w.workers[w.draw(len(w.workers))]
	switch k := w.draw(20); {
	case k < 5:
		return x, w.claim(x)
	case k < 9 && len(x.held) > 0:
		return x, &store.Renew{Worker: w.who(x), Lease: 10 * time.Second, Rows: []store.RenewRow{{Key: w.key(x)}}}
	case k < 13 && len(x.held) > 0:
		if len(x.said) > 0 && w.draw(3) == 0 {
			return x, x.said[w.draw(len(x.said))]
		}
		q := &store.Report{Worker: w.who(x), Rows: []store.ReportRow{{Key: w.key(x), Outcome: w.outcome()}}}
		x.said = append(x.said, q)
		return x, q
	case k < 15:
		return x, &store.Sweep{Queues: []string{w.queue()}, Any: w.draw(4) == 0, Max: 1 + w.draw(3)}
	case k < 18:
		return x, w.enqueue()
	case len(w.sent) > 0 && w.draw(3) == 0:
		return x, w.sent[w.draw(len(w.sent))]
	}
	w.number++
	q := &store.Do{Actor: "ann", RequestID: fmt.Sprint("r", w.number), Command: w.command()}
	w.sent = append(w.sent, q)
	return x, q
}

func (w *refWorld) queue() string { return []string{"p", "q"}[w.draw(2)] }

func (w *refWorld) claim(x *refWorker) store.Request {
	if len(x.claims) > 0 && w.draw(3) == 0 {
		return x.claims[w.draw(len(x.claims))]
	}
	x.number++
	q := &store.Claim{Worker: x.name, Number: x.number, Queues: []store.Quota{{Queue: w.queue(), Most: 3}}, Max: 1 + w.draw(2), Lease: 10 * time.Second, Terms: refTerms}
	if w.draw(3) == 0 {
		q.Queues = []store.Quota{{Queue: "q", Most: 1}, {Queue: "p", Most: 1}}
	}
	x.claims = append(x.claims, q)
	return q
}

// key is a lease the worker was given, one of the last most often, and forged
// now and then.
func (w *refWorld) key(x *refWorker) store.LeaseKey {
	k := x.held[len(x.held)-1-w.draw(min(len(x.held), 3))]
	if w.forge && w.draw(8) == 0 {
		switch w.draw(2) {
		case 0:
			k.Attempt = max(1, k.Attempt-1+2*w.draw(2))
		case 1:
			k.Claim++
		}
	}
	return k
}

func (w *refWorld) who(x *refWorker) string {
	if w.forge && w.draw(8) == 0 {
		return w.workers[w.draw(len(w.workers))].name
	}
	return x.name
}

func (w *refWorld) outcome() store.Outcome {
	return []store.Outcome{store.Success{}, store.Failure{Error: "no"}, store.Failure{}, store.Failure{HasRetryAfter: true, RetryAfter: 3 * time.Second}, store.Discard{}, store.Snooze{Delay: 2 * time.Second}, store.Released{}, store.UnknownName{}, store.Undecodable{}}[w.draw(9)]
}

func (w *refWorld) enqueue() store.Request {
	i := w.draw(refJobs)
	n := store.NewJob{ID: jobID(i), Name: []string{"a", "b"}[i%2], Queue: []string{"p", "q"}[i/2], Delay: time.Duration(i%3) * time.Second}
	if i%2 == 1 {
		n.UniqueKey = "only"
	}
	if w.draw(10) == 0 {
		n.Payload = []byte("another")
	}
	return &store.Enqueue{Jobs: []store.NewJob{n}}
}

func (w *refWorld) command() store.Command {
	id := jobID(w.draw(refJobs))
	return []store.Command{store.Cancel{Job: id}, store.Cancel{Job: id, Force: true}, store.Requeue{Job: id}, store.Requeue{Job: id}, store.Requeue{Job: id}, store.Pause{Queue: "p"}, store.Resume{Queue: "p"}}[w.draw(7)]
}
