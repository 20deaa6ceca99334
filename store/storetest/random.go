package storetest

import (
	"fmt"
	"reflect"
	"slices"
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
		p := &pair{h: h, clock: clock, m: memory.New(clock), number: map[string]uint64{}, held: map[store.JobID]func(){}}
		p.l = memory.NewLocked(p.m)
		defer func() {
			for _, release := range p.held {
				release()
			}
		}()
		actions := map[string]func(*rapid.T){
			"enqueue": p.enqueue, "claim": p.claim, "renew": p.renew, "report": p.report, "work": p.work,
			"sweep": p.sweep, "do": p.do, "time": p.time, "": p.agree,
		}
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
	h      Harness
	clock  *Clock
	m      *memory.Store
	l      *memory.Locked
	given  []given
	number map[string]uint64
	held   map[store.JobID]func()
}

type given struct {
	worker string
	key    store.LeaseKey
}

// both sends one request to both stores and compares the answers.
func (p *pair) both(t *rapid.T, req store.Request) store.Reply {
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
	for _, q := range queueNames {
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

var (
	queueNames = []string{"c", "a", "b"}
	spans      = []time.Duration{0, time.Microsecond, time.Second, 10 * time.Second, 59 * time.Second, time.Minute, 2 * time.Minute, time.Hour}
	leases     = []time.Duration{time.Second, 10 * time.Second, time.Minute, 2 * time.Minute}
)

func pick[T any](t *rapid.T, what string, from []T) T { return rapid.SampledFrom(from).Draw(t, what) }

func draw(t *rapid.T, what string, low, high int) int { return rapid.IntRange(low, high).Draw(t, what) }

func randomID(t *rapid.T) store.JobID {
	return store.NewJobID(1_767_225_600_000, 0, uint64(draw(t, "id", 1, 9)))
}

func (p *pair) enqueue(t *rapid.T) {
	req := &store.Enqueue{}
	for range draw(t, "rows", 1, 3) {
		req.Jobs = append(req.Jobs, store.NewJob{
			ID: randomID(t), Name: pick(t, "name", []string{"n", "m"}), Queue: pick(t, "queue", queueNames),
			Payload: pick(t, "payload", [][]byte{nil, {}, []byte("p")}), UniqueKey: pick(t, "key", []string{"", "k", "l"}),
			MaxAttempts: draw(t, "ceiling", 0, 3), Delay: pick(t, "delay", spans),
			HasAt: draw(t, "has at", 0, 3) == 0, At: p.clock.Now().Add(-pick(t, "at", spans)),
		})
	}
	for i := range req.Jobs { // of a payload that is lost it is not known whether another one differs
		if j, ok := p.m.Lookup(req.Jobs[i].ID); ok && j.Damage != "" {
			req.Jobs[i].Payload = j.Payload
		}
	}
	p.both(t, req)
}

func (p *pair) claim(t *rapid.T) {
	worker := pick(t, "worker", []string{"v", "w"})
	number := max(1, p.number[worker]+1-min(p.number[worker], uint64(draw(t, "fewer", 0, 3))))
	p.number[worker] = max(number, p.number[worker])
	req := &store.Claim{Worker: worker, Number: number, Max: draw(t, "max", 1, 4), Lease: pick(t, "lease", leases)}
	for _, q := range pick(t, "queues", [][]string{{"a"}, {"a", "b", "c"}, {"c", "b", "a"}, {"b", "never", "a"}}) {
		req.Queues = append(req.Queues, store.Quota{Queue: q, Most: draw(t, "most", 0, 2)})
	}
	req.Terms = &store.Terms{
		Default: store.Policy{MaxAttempts: draw(t, "ceiling", 1, 3), First: 5 * time.Second, Factor: 2, Cap: time.Minute},
		ByName:  []store.NamedPolicy{{Name: "m", Policy: store.Policy{MaxAttempts: 2, First: time.Nanosecond, NoJitter: true}}},
	}
	for _, l := range p.both(t, req).(*store.Claimed).Leases {
		p.given = append(p.given, given{worker, l.Key})
	}
}

// some draws leases that were given once, recent ones more often, now and then
// with something forged.
func (p *pair) some(t *rapid.T) (worker string, keys []store.LeaseKey) {
	worker = pick(t, "worker", []string{"v", "w"})
	for range draw(t, "rows", 1, 3) {
		k := store.LeaseKey{Job: randomID(t), Attempt: draw(t, "attempt", 1, 3), Claim: uint64(draw(t, "claim", 1, 3))}
		if n := len(p.given); n > 0 {
			l := p.given[max(0, n-1-draw(t, "back", 0, 5)*draw(t, "far", 0, 5))]
			worker, k = l.worker, l.key
		}
		switch draw(t, "forge", 0, 20) {
		case 0:
			k.Claim++
		case 1:
			k.Attempt++
		case 2:
			worker = "x"
		}
		if !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	return worker, keys
}

func (p *pair) renew(t *rapid.T) {
	worker, keys := p.some(t)
	req := &store.Renew{Worker: worker, Lease: pick(t, "lease", leases)}
	for _, k := range keys {
		req.Rows = append(req.Rows, store.RenewRow{Key: k, Progress: pick(t, "progress", [][]byte{nil, []byte("1"), []byte("2")})})
	}
	p.both(t, req)
}

func (p *pair) report(t *rapid.T) {
	worker, keys := p.some(t)
	req := &store.Report{Worker: worker}
	for _, k := range keys {
		req.Rows = append(req.Rows, store.ReportRow{Key: k, Outcome: pick(t, "outcome", []store.Outcome{
			store.Success{Output: []byte("o")},
			store.Success{Output: make([]byte, store.MaxOutput+1)},
			store.Failure{Error: "e \"é\""},
			store.Failure{HasRetryAfter: true, RetryAfter: time.Second},
			store.Discard{Error: "d"},
			store.Snooze{Delay: pick(t, "snooze", spans)},
			store.Released{},
			store.UnknownName{},
			store.UnknownName{},
			store.Undecodable{Error: "u"},
		})})
	}
	p.both(t, req)
}

// work runs what is due through a few whole attempts, so that lives are long.
func (p *pair) work(t *rapid.T) {
	for range draw(t, "rounds", 1, 12) {
		p.claim(t)
		p.report(t)
		p.clock.Advance(pick(t, "span", spans))
	}
}

func (p *pair) sweep(t *rapid.T) {
	p.both(t, &store.Sweep{
		Queues: pick(t, "queues", [][]string{{"a"}, {"c", "b"}, {"b", "never"}, {"a", "b", "c"}}),
		Any:    rapid.Bool().Draw(t, "any"), Max: draw(t, "max", 1, 5),
	})
}

func (p *pair) do(t *rapid.T) {
	job, queue := randomID(t), pick(t, "queue", queueNames)
	p.both(t, &store.Do{Actor: "ann", RequestID: fmt.Sprint("r", draw(t, "request", 1, 60)), Command: pick(t, "command", []store.Command{
		store.Cancel{Job: job},
		store.Cancel{Job: job, Force: true},
		store.Requeue{Job: job},
		store.Requeue{Job: job},
		store.Pause{Queue: queue},
		store.Resume{Queue: queue},
		store.Resume{Queue: queue},
	})})
}

func (p *pair) hold(t *rapid.T) {
	job := randomID(t)
	if release, ok := p.held[job]; ok {
		release()
		p.m.Unhold(job)
		delete(p.held, job)
	} else if draw(t, "hold", 0, 2) == 0 && len(p.held) == 0 { // two could wait for each other's queue
		p.held[job] = p.h.Hold(job)
		p.m.Hold(job)
	}
}

func (p *pair) time(t *rapid.T) {
	d := pick(t, "span", spans)
	if draw(t, "back", 0, 3) == 0 {
		d = -d
	}
	p.clock.Advance(d)
}

func (p *pair) damage(t *rapid.T) {
	job := randomID(t)
	if _, held := p.held[job]; held {
		return
	}
	if _, ok := p.m.Lookup(job); ok {
		p.h.Damage(job, "torn")
		p.m.Damage(job, "torn")
	}
}
