package storetest

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"backwave/store"
)

// Operations draws random calls on a few jobs, workers and queues, such that
// most make sense and all meet each other. It knows nothing of answers but the
// leases in them.
type Operations struct {
	Clock *Clock
	// Send is given every request.
	Send func(*rapid.T, store.Request) store.Reply
	// Terms are those of a claim; ceiling is drawn.
	Terms func(ceiling int) *store.Terms
	// Outcomes may be reported beside the usual ones.
	Outcomes []store.Outcome
	// Rare, if not nil, are jobs in states that few get into: operators get to
	// them more often.
	Rare func() []store.JobID

	given  []given
	number map[string]uint64
}

// given is a lease that was answered once.
type given struct {
	worker string
	key    store.LeaseKey
}

// Actions are the operations by name, for rapid's Repeat.
func (o *Operations) Actions() map[string]func(*rapid.T) {
	o.number = map[string]uint64{}
	return map[string]func(*rapid.T){
		"enqueue": o.enqueue, "claim": o.claim, "renew": o.renew, "report": o.report, "work": o.work, "sweep": o.sweep, "do": o.do, "time": o.time,
	}
}

// Given visits every lease that was ever answered, oldest first.
func (o *Operations) Given(visit func(worker string, key store.LeaseKey)) {
	for _, g := range o.given {
		visit(g.worker, g.key)
	}
}

// Number is the highest claim number that the worker has sent.
func (o *Operations) Number(worker string) uint64 { return o.number[worker] }

// QueueNames are the queues that jobs are added to. Claims also ask for "never".
var QueueNames = []string{"c", "a", "b"}

var (
	spans  = []time.Duration{0, time.Microsecond, time.Second, 10 * time.Second, 59 * time.Second, time.Minute, 2 * time.Minute, time.Hour}
	leases = []time.Duration{time.Second, 10 * time.Second, time.Minute, 2 * time.Minute}
)

func pick[T any](t *rapid.T, what string, from []T) T { return rapid.SampledFrom(from).Draw(t, what) }

func draw(t *rapid.T, what string, low, high int) int { return rapid.IntRange(low, high).Draw(t, what) }

// ID is the n-th job that operations are about.
func ID(n int) store.JobID { return store.NewJobID(1_767_225_600_000, 0, uint64(n)) }

// RandomID is one of the jobs that operations are about.
func RandomID(t *rapid.T) store.JobID { return ID(draw(t, "id", 1, 9)) }

func (o *Operations) enqueue(t *rapid.T) {
	req := &store.Enqueue{}
	for range draw(t, "rows", 1, 3) {
		req.Jobs = append(req.Jobs, store.NewJob{
			ID: RandomID(t), Name: pick(t, "name", []string{"n", "m"}), Queue: pick(t, "queue", QueueNames),
			Payload: pick(t, "payload", [][]byte{nil, {}, []byte("p")}), UniqueKey: pick(t, "key", []string{"", "k", "l"}),
			MaxAttempts: draw(t, "ceiling", 0, 3), Delay: pick(t, "delay", spans),
			HasAt: draw(t, "has at", 0, 3) == 0, At: o.Clock.Now().Add(-pick(t, "at", spans)),
		})
	}
	o.Send(t, req)
}

func (o *Operations) claim(t *rapid.T) {
	worker := pick(t, "worker", []string{"v", "w"})
	number := max(1, o.number[worker]+1-min(o.number[worker], uint64(draw(t, "fewer", 0, 3))))
	o.number[worker] = max(number, o.number[worker])
	req := &store.Claim{Worker: worker, Number: number, Max: draw(t, "max", 1, 4), Lease: pick(t, "lease", leases)}
	for _, q := range pick(t, "queues", [][]string{{"a"}, {"a", "b", "c"}, {"c", "b", "a"}, {"b", "never", "a"}}) {
		req.Queues = append(req.Queues, store.Quota{Queue: q, Most: draw(t, "most", 0, 2)})
	}
	req.Terms = o.Terms(draw(t, "ceiling", 1, 3))
	for _, l := range o.Send(t, req).(*store.Claimed).Leases {
		o.given = append(o.given, given{worker, l.Key})
	}
}

// some draws leases that were given once, recent ones more often, now and then
// with something forged.
func (o *Operations) some(t *rapid.T) (worker string, keys []store.LeaseKey) {
	worker = pick(t, "worker", []string{"v", "w"})
	for range draw(t, "rows", 1, 3) {
		k := store.LeaseKey{Job: RandomID(t), Attempt: draw(t, "attempt", 1, 3), Claim: uint64(draw(t, "claim", 1, 3))}
		if n := len(o.given); n > 0 {
			l := o.given[max(0, n-1-draw(t, "back", 0, 5)*draw(t, "far", 0, 5))]
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

func (o *Operations) renew(t *rapid.T) {
	worker, keys := o.some(t)
	req := &store.Renew{Worker: worker, Lease: pick(t, "lease", leases)}
	for _, k := range keys {
		req.Rows = append(req.Rows, store.RenewRow{Key: k, Progress: pick(t, "progress", [][]byte{nil, []byte("1"), []byte("2")})})
	}
	o.Send(t, req)
}

func (o *Operations) report(t *rapid.T) {
	worker, keys := o.some(t)
	req := &store.Report{Worker: worker}
	for _, k := range keys {
		req.Rows = append(req.Rows, store.ReportRow{Key: k, Outcome: pick(t, "outcome", append([]store.Outcome{
			store.Success{Output: []byte("o")},
			store.Failure{Error: "e \"é\""},
			store.Failure{HasRetryAfter: true, RetryAfter: time.Second},
			store.Discard{Error: "d"},
			store.Snooze{Delay: pick(t, "snooze", spans)},
			store.Released{},
			store.UnknownName{},
			store.UnknownName{},
			store.Undecodable{Error: "u"},
		}, o.Outcomes...))})
	}
	o.Send(t, req)
}

// work runs what is due through a few whole attempts, so that lives are long.
func (o *Operations) work(t *rapid.T) {
	for range draw(t, "rounds", 1, 12) {
		o.claim(t)
		o.report(t)
		o.Clock.Advance(pick(t, "span", spans))
	}
}

func (o *Operations) sweep(t *rapid.T) {
	o.Send(t, &store.Sweep{
		Queues: pick(t, "queues", [][]string{{"a"}, {"c", "b"}, {"b", "never"}, {"a", "b", "c"}}),
		Any:    rapid.Bool().Draw(t, "any"), Max: draw(t, "max", 1, 5),
	})
}

func (o *Operations) do(t *rapid.T) {
	job, queue := RandomID(t), pick(t, "queue", QueueNames)
	if o.Rare != nil {
		if rare := o.Rare(); len(rare) > 0 && rapid.Bool().Draw(t, "rare") {
			job = pick(t, "rare job", rare)
		}
	}
	o.Send(t, &store.Do{Actor: "ann", RequestID: fmt.Sprint("r", draw(t, "request", 1, 60)), Command: pick(t, "command", []store.Command{
		store.Cancel{Job: job},
		store.Cancel{Job: job, Force: true},
		store.Requeue{Job: job},
		store.Requeue{Job: job},
		store.Pause{Queue: queue},
		store.Resume{Queue: queue},
		store.Resume{Queue: queue},
	})})
}

func (o *Operations) time(t *rapid.T) {
	d := pick(t, "span", spans)
	if draw(t, "back", 0, 3) == 0 {
		d = -d
	}
	o.Clock.Advance(d)
}
