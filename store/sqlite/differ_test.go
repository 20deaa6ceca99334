package sqlite_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"backwave/store"
	"backwave/store/memory"
	"backwave/store/sqlite"
)

// both sends the same calls to a file and to the executable reading of the
// contract.
type both struct {
	now    store.Instant
	file   *sqlite.Store
	mem    *memory.Locked
	given  []store.ReportRow // keys of leases, with the worker in given
	worker []string
	number map[string]uint64
}

// Now implements memory.Clock.
func (b *both) Now() store.Instant { return b.now }

func TestRepliesAreThoseOfTheMemoryStore(t *testing.T) {
	dir, files := t.TempDir(), 0
	rapid.Check(t, func(t *rapid.T) {
		files++
		path := filepath.Join(dir, fmt.Sprintf("%d.db", files))
		b := &both{now: start, number: map[string]uint64{}}
		b.mem = memory.NewLocked(memory.New(b))
		b.file = must(sqlite.Open(t.Context(), sqlite.Config{Path: path, Synchronous: sqlite.Normal, Clock: b.Now}))
		defer func() {
			err := errors.Join(b.file.Close(), os.Remove(path))
			if err != nil {
				t.Error(err)
			}
		}()
		t.Repeat(map[string]func(*rapid.T){
			"enqueue": b.enqueue, "claim": b.claim, "report": b.report, "renew": b.renew, "sweep": b.sweep, "do": b.do,
			"time": func(t *rapid.T) { b.now = b.now.Add(pick(t, "span", spans) - pick(t, "back", spans)/4) },
			"":     b.agree,
		})
	})
}

var spans = []time.Duration{0, time.Microsecond, time.Second, 10 * time.Second, time.Minute, 2 * time.Minute}

func pick[T any](t *rapid.T, what string, from []T) T { return rapid.SampledFrom(from).Draw(t, what) }

func draw(t *rapid.T, what string, low, high int) int { return rapid.IntRange(low, high).Draw(t, what) }

// same fails unless two replies are equal.
func same[R any](t *rapid.T, req any, got R, err error) func(want R, err error) {
	return func(want R, other error) {
		if err != nil || other != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v\n got %+v, %v\nwant %+v, %v", req, got, err, want, other)
		}
	}
}

func (b *both) enqueue(t *rapid.T) {
	r := &store.Enqueue{}
	for range draw(t, "rows", 1, 3) {
		n := draw(t, "id", 1, 6)
		r.Jobs = append(r.Jobs, store.NewJob{
			ID: store.NewJobID(1, 1, uint64(n)), Name: pick(t, "name", []string{"n", "m"}), Queue: pick(t, "queue", []string{"a", "b"}),
			Payload: pick(t, "payload", [][]byte{nil, {}, []byte("p")}), UniqueKey: pick(t, "key", []string{"", "k"}),
			MaxAttempts: draw(t, "ceiling", 0, 3), Delay: pick(t, "delay", spans),
		})
	}
	got, err := b.file.Enqueue(t.Context(), r)
	same(t, r, got, err)(b.mem.Enqueue(t.Context(), r))
}

func (b *both) claim(t *rapid.T) {
	w := pick(t, "worker", []string{"v", "w"})
	n := max(1, b.number[w]+1-min(b.number[w], uint64(draw(t, "fewer", 0, 2))))
	b.number[w] = max(n, b.number[w])
	r := &store.Claim{Worker: w, Number: n, Max: draw(t, "max", 1, 4), Lease: pick(t, "lease", spans[2:]), Terms: &store.Terms{Default: store.Policy{MaxAttempts: 2}}}
	for _, q := range pick(t, "queues", [][]string{{"a"}, {"a", "b"}, {"b", "never", "a"}}) {
		r.Queues = append(r.Queues, store.Quota{Queue: q, Most: draw(t, "most", 0, 2)})
	}
	got, err := b.file.Claim(t.Context(), r)
	same(t, r, got, err)(b.mem.Claim(t.Context(), r))
	for _, l := range got.Leases {
		b.given, b.worker = append(b.given, store.ReportRow{Key: l.Key}), append(b.worker, w)
	}
}

// lease draws one that was given once, or one that never was.
func (b *both) lease(t *rapid.T) (string, store.LeaseKey) {
	if len(b.given) == 0 {
		return "v", store.LeaseKey{Job: store.NewJobID(1, 1, 1), Attempt: 1, Claim: 1}
	}
	i := max(0, len(b.given)-1-draw(t, "back", 0, 6))
	return b.worker[i], b.given[i].Key
}

func (b *both) report(t *rapid.T) {
	w, k := b.lease(t)
	forged := k
	forged.Claim++
	o := pick(t, "outcome", []store.Outcome{
		store.Success{Output: []byte("o")},
		store.Success{},
		store.Failure{Error: "e \"é\""},
		store.Failure{HasRetryAfter: true},
		store.Discard{Error: "d"},
		store.Snooze{},
		store.Released{},
		store.UnknownName{},
		store.Undecodable{Error: "u"},
		store.Success{Output: make([]byte, store.MaxOutput+1)},
	})
	r := &store.Report{Worker: w, Rows: []store.ReportRow{{Key: forged, Outcome: o}, {Key: k, Outcome: o}}}
	got, err := b.file.Report(t.Context(), r)
	same(t, w, got, err)(b.mem.Report(t.Context(), r))
}

func (b *both) renew(t *rapid.T) {
	w, k := b.lease(t)
	r := &store.Renew{Worker: w, Lease: pick(t, "lease", spans[2:]), Rows: []store.RenewRow{{Key: k, Progress: pick(t, "progress", [][]byte{nil, []byte("1")})}}}
	got, err := b.file.Renew(t.Context(), r)
	same(t, r, got, err)(b.mem.Renew(t.Context(), r))
}

func (b *both) sweep(t *rapid.T) {
	r := &store.Sweep{Queues: pick(t, "queues", [][]string{{"a"}, {"b", "never"}}), Any: rapid.Bool().Draw(t, "any"), Max: draw(t, "max", 1, 3)}
	got, err := b.file.Sweep(t.Context(), r)
	same(t, r, got, err)(b.mem.Sweep(t.Context(), r))
}

func (b *both) do(t *rapid.T) {
	id := store.NewJobID(1, 1, uint64(draw(t, "id", 1, 7)))
	r := &store.Do{Actor: "ann", RequestID: fmt.Sprint(draw(t, "request", 1, 30)), Command: pick(t, "command", []store.Command{
		store.Cancel{Job: id}, store.Cancel{Job: id, Force: true}, store.Requeue{Job: id}, store.Pause{Queue: "a"}, store.Resume{Queue: "a"},
	})}
	got, err := b.file.Do(t.Context(), r)
	same(t, r, got, err)(b.mem.Do(t.Context(), r))
}

// agree compares every job and queue.
func (b *both) agree(t *rapid.T) {
	for _, q := range []string{"a", "b"} {
		got, err := b.file.Jobs(t.Context(), q, nil, 99)
		same(t, q, got, err)(b.mem.Jobs(t.Context(), q, nil, 99))
		n, err := b.file.Unfinished(t.Context(), []string{q, q})
		same(t, q, n, err)(b.mem.Unfinished(t.Context(), []string{q, q}))
	}
	views, err := b.file.Queues(t.Context())
	want, other := b.mem.Queues(t.Context())
	if len(views)+len(want) > 0 {
		same(t, "queues", views, err)(want, other)
	}
	audits, err := b.file.Audits(t.Context())
	if want := b.mem.Audits(); len(audits)+len(want) > 0 {
		same(t, "audits", audits, err)(want, nil)
	}
}
