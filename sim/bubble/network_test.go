package bubble

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"time"

	"backwave/checker"
	"backwave/store"
)

// network is what lies between a process, or the people, and the store.
type network struct {
	store.Store // nil: nothing is read through it
	w           *world
	p           *process
}

func (n *network) Claim(ctx context.Context, q *store.Claim) (*store.Claimed, error) {
	return answered[*store.Claimed](n.call(ctx, checker.CallClaim, q))
}

func (n *network) Renew(ctx context.Context, q *store.Renew) (*store.Renewed, error) {
	return answered[*store.Renewed](n.call(ctx, checker.CallRenew, q))
}

func (n *network) Report(ctx context.Context, q *store.Report) (*store.Reported, error) {
	return answered[*store.Reported](n.call(ctx, checker.CallReport, q))
}

func (n *network) Sweep(ctx context.Context, q *store.Sweep) (*store.Swept, error) {
	return answered[*store.Swept](n.call(ctx, checker.CallSweep, q))
}

func (n *network) Enqueue(ctx context.Context, q *store.Enqueue) (*store.Enqueued, error) {
	return answered[*store.Enqueued](n.call(ctx, checker.CallEnqueue, q))
}

func (n *network) Do(ctx context.Context, q *store.Do) (*store.Done, error) {
	return answered[*store.Done](n.call(ctx, checker.CallDo, q))
}

func answered[R store.Reply](r store.Reply, err error) (none R, _ error) {
	if err != nil {
		return none, err
	}
	return r.(R), nil
}

// pumpCall is what calls are counted by: a kind of call by one pump of a node.
type pumpCall struct {
	group string
	pump  int
	kind  checker.CallKind
}

// flight is one call between its send and its answer.
type flight struct {
	w      *world
	n      *node // nil: of people
	p      *process
	call   *checker.Call
	id     uint64
	worker string
	at     pumpCall
	there  time.Duration // the request's way
	back   time.Duration // the answer's
	lost   bool          // the request
	loses  string        // the kind of fault that loses the answer
	double time.Duration // a second copy arrives so much later; -1 = none
	answer chan answer
}

type answer struct {
	reply store.Reply
	err   error
}

// call sends req on its way and waits for the answer, as long as ctx and the
// process last.
func (n *network) call(ctx context.Context, kind checker.CallKind, req store.Request) (store.Reply, error) {
	f := n.w.launch(n.p, kind, req)
	var died chan struct{}
	if n.p != nil {
		died = n.p.died
	}
	select {
	case a := <-f.answer:
		return a.reply, a.err
	case <-ctx.Done():
		return nil, &store.TransientError{Fault: store.FaultTimeout, Err: context.Cause(ctx)}
	case <-died:
		return nil, errDown
	}
}

// launch lets a request leave.
func (w *world) launch(p *process, kind checker.CallKind, req store.Request) *flight {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.serial++
	f := &flight{w: w, p: p, id: w.ids[req], double: -1, answer: make(chan answer, 2)}
	delete(w.ids, req)
	f.call = &checker.Call{Ghost: checker.Ghost(w.serial), Kind: kind, Pump: -1, SentTrue: w.time(), Req: req}
	who, nth := uint64(0), 0
	if p != nil {
		f.n = p.n
		who, nth = w.address(f)
		f.lost = f.n.cut[0] > 0
	} else {
		who, nth = w.people(req)
	}
	w.watch.Sent(f.call)
	f.there = w.way(1, who, uint64(kind), uint64(nth)) + f.slow()
	f.back = w.way(2, who, uint64(kind), uint64(nth))
	w.strike(f, nth)
	if w.serial > maxCalls {
		w.hurry("more than %d calls: an engine calls without rest", maxCalls)
	}
	w.flights.Add(1)
	go f.travel()
	if f.double >= 0 {
		w.log.Doubled(w.time(), f.id)
		again := *f
		again.there += f.double
		w.flights.Add(1)
		go again.travel()
	}
	return f
}

// maxCalls is more than any world of the tests makes.
const maxCalls = 300_000

// address finds out which pump sends f, and counts the call. A sweep names no
// worker; it counts for the first pump of a group with its queues.
func (w *world) address(f *flight) (who uint64, nth int) {
	at := pumpCall{kind: f.call.Kind}
	switch r := f.call.Req.(type) {
	case *store.Claim:
		f.worker = r.Worker
	case *store.Renew:
		f.worker = r.Worker
	case *store.Report:
		f.worker = r.Worker
	case *store.Sweep:
		for _, g := range w.served(f.n) {
			if at.group == "" && slices.Equal(queuesOf(g), r.Queues) {
				at.group = g.Name
			}
		}
	case *store.Enqueue, *store.Do:
	}
	if part := strings.Split(f.worker, "/"); len(part) == 5 {
		at.group, at.pump = part[2], int(part[3][0]-'0')
		w.pumpOf[f.worker] = pumpCall{group: at.group, pump: at.pump}
	}
	f.at = at
	if id, ok := w.pumps[pumpStart{f.p, at.group, at.pump}]; ok {
		f.call.Pump = id
	}
	f.call.Leases = w.ghosts(f)
	f.n.made[at]++
	return text(f.n.spec.Name) ^ text(at.group) ^ uint64(at.pump)<<8, f.n.made[at]
}

// people counts a call of a client or an operator.
func (w *world) people(req store.Request) (who uint64, nth int) {
	switch r := req.(type) {
	case *store.Enqueue:
		w.asked(r)
		who = text(r.Jobs[0].ID.String())
	case *store.Do:
		who = text(r.RequestID)
	case *store.Claim, *store.Renew, *store.Report, *store.Sweep:
	}
	w.sends[who]++
	return who, w.sends[who]
}

// ghosts returns the leases behind the rows of a renewal or a report.
func (w *world) ghosts(f *flight) (out []checker.Ghost) {
	switch r := f.call.Req.(type) {
	case *store.Renew:
		for _, row := range r.Rows {
			out = append(out, w.known[held{f.worker, row.Key}])
			w.letAlone(row.Key)
		}
	case *store.Report:
		for _, row := range r.Rows {
			out = append(out, w.known[held{f.worker, row.Key}])
		}
	case *store.Claim, *store.Sweep, *store.Enqueue, *store.Do:
	}
	return out
}

// held is a lease as its pump knows it.
type held struct {
	worker string
	key    store.LeaseKey
}

func (f *flight) slow() time.Duration {
	d := f.w.net.slow
	if f.n != nil {
		d += f.n.slowness
	}
	return d
}

// travel is the way of a request to the store, and of the answer back.
func (f *flight) travel() {
	w := f.w
	defer w.flights.Done()
	time.Sleep(f.there)
	var a answer
	var leases []checker.Ghost
	back := time.Duration(0)
	for {
		w.mu.Lock()
		wait := w.net.stalled(w.time())
		if wait == 0 {
			a, leases = f.arrive()
			back = f.back + f.slow()
			w.mu.Unlock()
			break
		}
		w.hit("stall")
		w.mu.Unlock()
		time.Sleep(wait + time.Duration(w.chance(uint64(f.call.Ghost))%uint64(time.Millisecond)))
	}
	if a == (answer{}) {
		return // lost
	}
	time.Sleep(back)
	if f.n != nil {
		f.n.stand()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if f.n != nil && f.n.cut[1] > 0 {
		w.hit("partition/replies")
		return
	}
	f.learn(a, leases)
	f.answer <- a
}

// arrive lets the store carry f out, or fail. Without an answer the caller
// hears nothing.
func (f *flight) arrive() (a answer, leases []checker.Ghost) {
	w := f.w
	if f.lost || w.net.outage > 0 || f.n != nil && f.n.cut[0] > 0 {
		switch {
		case f.call.Kind == checker.CallForged:
			return answer{}, nil
		case f.lost:
		case w.net.outage > 0:
			w.hit("outage")
		}
		if f.n != nil && f.n.cut[0] > 0 {
			w.hit("partition/requests")
		}
		w.log.Lost(w.time(), f.id)
		return answer{}, nil
	}
	if f.call.Kind == checker.CallForged && w.genuine(f) {
		return answer{}, nil
	}
	a, leases = w.commit(f)
	if f.loses != "" && a.err == nil {
		w.hit(f.loses)
	}
	if f.loses != "" || f.n != nil && f.n.cut[1] > 0 {
		if f.n != nil && f.n.cut[1] > 0 {
			w.hit("partition/replies")
		}
		return answer{}, nil
	}
	return a, leases
}

// learn keeps what an answer tells its pump of leases.
func (f *flight) learn(a answer, leases []checker.Ghost) {
	if r, ok := a.reply.(*store.Claimed); ok && a.err == nil {
		for i := range r.Leases {
			f.w.known[held{f.worker, r.Leases[i].Key}] = leases[i]
		}
	}
	if f.n == nil {
		f.w.watch.Answered(f.call, a.reply, nil, store.FaultOf(a.err), a.err != nil, 0)
	}
}

// copied returns a reply that its receiver may change.
func copied(r store.Reply) store.Reply {
	c, ok := r.(*store.Claimed)
	if !ok {
		return r
	}
	out := *c
	out.Leases = slices.Clone(c.Leases)
	for i := range out.Leases {
		out.Leases[i].Payload = bytes.Clone(out.Leases[i].Payload)
	}
	return &out
}
