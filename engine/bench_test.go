package engine_test

import (
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"backwave/engine"
	"backwave/store"
)

// plenty is a store of many jobs, all alike. It does next to nothing, as slowly
// as a store on a disk, and forgets what is reported.
type plenty struct {
	payload []byte
	left    atomic.Int64   // jobs that were not claimed; below 0: none
	open    sync.WaitGroup // jobs that were not reported
}

func (p *plenty) Claim(_ context.Context, q *store.Claim) (*store.Claimed, error) {
	time.Sleep(roundTrip)
	last := p.left.Add(-int64(q.Max))
	n := max(0, int64(q.Max)+min(0, last))
	out := &store.Claimed{Leases: make([]store.Lease, n), HasNext: last > 0}
	for i := range out.Leases {
		l := store.Lease{Key: store.LeaseKey{Attempt: 1, Claim: q.Number}, Name: "noop", Queue: "default", Payload: p.payload}
		binary.BigEndian.PutUint64(l.Key.Job[:], uint64(last)+uint64(i)+1<<62)
		out.Leases[i] = l
	}
	return out, nil
}

func (p *plenty) Renew(_ context.Context, q *store.Renew) (*store.Renewed, error) {
	rows := make([]store.RenewAnswer, len(q.Rows))
	for i := range rows {
		rows[i].Status = store.RenewOK
	}
	return &store.Renewed{Rows: rows}, nil
}

func (p *plenty) Report(_ context.Context, q *store.Report) (*store.Reported, error) {
	time.Sleep(roundTrip)
	rows := make([]store.ReportAnswer, len(q.Rows))
	for i := range rows {
		rows[i].Status = store.ReportApplied
		p.open.Done()
	}
	return &store.Reported{Rows: rows}, nil
}

func (p *plenty) Sweep(context.Context, *store.Sweep) (*store.Swept, error) {
	return &store.Swept{}, nil
}

// roundTrip is long enough for outcomes to gather, as they do with PostgreSQL.
const roundTrip = 10 * time.Millisecond

// BenchmarkDrain is what the engine adds to the store for each job of a loaded
// queue: two pumps, a no-op handler, 100 bytes of JSON that are decoded for it.
// With -cpu 1 that is processor time, if nobody else takes any.
func BenchmarkDrain(b *testing.B) {
	type payload struct {
		Sent int64  `json:"t"`
		Fill string `json:"p"`
	}
	st := &plenty{payload: []byte(`{"t":1764000000000000000,"p":"` + strings.Repeat("x", 68) + `"}`)}
	st.left.Store(int64(b.N))
	st.open.Add(b.N)
	mux := engine.NewMux()
	engine.Handle(mux, "noop", func(context.Context, *engine.Job[payload]) error { return nil })
	e, err := engine.New(engine.Config{
		Store: st, Mux: mux, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Groups: []engine.Group{{Name: "main", Queues: engine.Strict("default"), Pumps: 2, PoolSize: 4000, ClaimBatch: 2000, ReportBatch: 2000}},
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	b.ReportAllocs()
	b.ResetTimer()
	go func() { ended <- e.Run(ctx) }()
	st.open.Wait()
	b.StopTimer()
	cancel()
	if err := <-ended; err != nil {
		b.Error(err)
	}
}
