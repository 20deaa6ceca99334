package storetest

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"backwave/store"
	"backwave/store/memory"
)

// RunRandom sends random lists of operations to stores that open returns, a
// fresh and empty one for each list, and to the memory store, and compares
// answers and jobs. It ends each store by the function that open returns beside
// it. What needs a hook that is nil, or Hold where HoldsAll is set, is left out.
func RunRandom(t *testing.T, open func(t *rapid.T, clock *Clock) (h Harness, end func())) {
	rapid.Check(t, func(t *rapid.T) {
		clock := &Clock{}
		clock.Set(1_767_225_600_000_000)
		h, end := open(t, clock)
		defer end()
		p := &pair{h: h, m: memory.New(clock), held: map[store.JobID]func(){}}
		p.l = memory.NewLocked(p.m)
		defer func() {
			for _, release := range p.held {
				release()
			}
		}()
		ops := &Operations{Clock: clock, Send: p.both, Terms: randomTerms, Outcomes: []store.Outcome{store.Success{Output: make([]byte, store.MaxOutput+1)}}}
		actions := ops.Actions()
		actions[""] = p.agree
		if h.Hold != nil && !h.HoldsAll {
			actions["hold"] = p.hold
		}
		if h.Damage != nil {
			actions["damage"] = p.damage
		}
		t.Repeat(actions)
	})
}

// pair drives a store and the executable reading of the contract side by side,
// on one clock.
type pair struct {
	h    Harness
	m    *memory.Store
	l    *memory.Locked
	held map[store.JobID]func()
}

func randomTerms(ceiling int) *store.Terms {
	return &store.Terms{
		Default: store.Policy{MaxAttempts: ceiling, First: 5 * time.Second, Factor: 2, Cap: time.Minute},
		ByName:  []store.NamedPolicy{{Name: "m", Policy: store.Policy{MaxAttempts: 2, First: time.Nanosecond, NoJitter: true}}},
	}
}

// both sends one request to both stores and compares the answers.
func (p *pair) both(t *rapid.T, req store.Request) store.Reply {
	if r, ok := req.(*store.Enqueue); ok {
		for i := range r.Jobs { // of a payload that is lost it is not known whether another one differs
			if j, ok := p.m.Lookup(r.Jobs[i].ID); ok && j.Damage != "" {
				r.Jobs[i].Payload = j.Payload
			}
		}
	}
	want, err := p.m.Apply(req)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.send(t, req)
	if err != nil {
		t.Fatalf("%+v: %v", req, err)
	}
	if got, want = level(req, got), level(req, want); !reflect.DeepEqual(got, want) {
		t.Fatalf("%T %+v\n got %+v\nwant %+v", req, req, got, want)
	}
	return got
}

func (p *pair) send(t *rapid.T, req store.Request) (store.Reply, error) {
	ctx, s := t.Context(), p.h.Store
	switch r := req.(type) {
	case *store.Claim:
		return s.Claim(ctx, r)
	case *store.Renew:
		return s.Renew(ctx, r)
	case *store.Report:
		return s.Report(ctx, r)
	case *store.Sweep:
		return s.Sweep(ctx, r)
	case *store.Enqueue:
		return s.Enqueue(ctx, r)
	case *store.Do:
		return s.Do(ctx, r)
	}
	return nil, fmt.Errorf("unknown request %T", req)
}

// agree compares all that a reader sees.
func (p *pair) agree(t *rapid.T) {
	ctx, s := t.Context(), p.h.Store
	last := uint64(0)
	jobs := map[string]int{}
	p.m.Each(func(want *store.Job) bool {
		jobs[want.Queue]++
		got, err := s.Job(ctx, want.ID)
		if err != nil {
			t.Fatalf("job %v: %v", want.ID, err)
		}
		if got.State != store.Succeeded {
			if got.Seq <= last {
				t.Fatalf("job %v has sequence %d after %d", want.ID, got.Seq, last)
			}
			last = got.Seq
		}
		if a, b := plain(got), plain(want); !reflect.DeepEqual(a, b) {
			t.Fatalf("job\n got %+v\nwant %+v", a, b)
		}
		return true
	})
	for _, q := range QueueNames {
		listed, err := s.Jobs(ctx, q, nil, 99)
		if err != nil || len(listed) != jobs[q] {
			t.Fatalf("queue %q lists %d jobs (%v), want %d", q, len(listed), err, jobs[q])
		}
		n, err := s.Unfinished(ctx, []string{q, q})
		if want, _ := p.l.Unfinished(ctx, []string{q, q}); err != nil || n != want {
			t.Fatalf("queue %q: %d unfinished (%v), want %d", q, n, err, want)
		}
	}
	if got, want := p.h.Audits(), p.m.Audits(); len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Fatalf("audits %+v, want %+v", got, want)
	}
	views, err := s.Queues(ctx)
	want, _ := p.l.Queues(ctx)
	if err != nil || len(views)+len(want) > 0 && !reflect.DeepEqual(views, want) {
		t.Fatalf("queues %+v (%v), want %+v", views, err, want)
	}
}

// level is an answer without what stores need not agree in: whether there was
// more when a claim has got its maximum, and whether no bytes are nil or empty.
func level(req store.Request, reply store.Reply) store.Reply {
	c, ok := reply.(*store.Claimed)
	if !ok {
		return reply
	}
	if len(c.Leases) == req.(*store.Claim).Max {
		c.HasNext, c.Next = true, 0
	}
	for i := range c.Leases {
		if len(c.Leases[i].Payload) == 0 {
			c.Leases[i].Payload = nil
		}
	}
	return c
}

// plain leaves out what two stores need not agree in: sequences may have holes,
// and no bytes may be nil or empty.
func plain(j *store.Job) store.Job {
	c := Kept(*j)
	c.Seq = 0
	for _, b := range []*[]byte{&c.Payload, &c.Output, &c.Progress} {
		if len(*b) == 0 || c.Damage != "" {
			*b = nil
		}
	}
	if len(c.Ends) == 0 {
		c.Ends = nil
	}
	return c
}

func (p *pair) hold(t *rapid.T) {
	job := RandomID(t)
	if release, ok := p.held[job]; ok {
		release()
		p.m.Unhold(job)
		delete(p.held, job)
	} else if draw(t, "hold", 0, 2) == 0 && len(p.held) == 0 { // two could wait for each other's queue
		p.held[job] = p.h.Hold(job)
		p.m.Hold(job)
	}
}

func (p *pair) damage(t *rapid.T) {
	job := RandomID(t)
	if _, held := p.held[job]; held {
		return
	}
	if _, ok := p.m.Lookup(job); ok {
		p.h.Damage(job, "torn")
		p.m.Damage(job, "torn")
	}
}
