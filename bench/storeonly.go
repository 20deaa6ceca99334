package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"backwave/engine"
	"backwave/store"
)

// storeOnly is the store without the engine: claims and reports, one after the
// other, of as many workers as the engine has pumps.
type storeOnly struct {
	*backWave
	t tuning
}

func openStoreOnly(ctx context.Context, url string, t tuning) (contender, error) {
	b, err := newBackWave(ctx, url, engine.Group{})
	if err != nil {
		return nil, err
	}
	return &storeOnly{b, t}, nil
}

func (b *storeOnly) work(ctx context.Context, h hooks) (func() error, error) {
	errs := make([]error, b.t.pumps)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = b.pump(ctx, fmt.Sprintf("store.%d", i), h) })
	}
	return func() error {
		all.Wait() // each ends by itself when nothing is left
		return errors.Join(errs...)
	}, nil
}

// pump claims and reports until a claim finds nothing.
func (b *storeOnly) pump(ctx context.Context, worker string, h hooks) error {
	for number := uint64(1); ; number++ {
		claimed, err := b.st.Claim(ctx, &store.Claim{
			Worker: worker, Number: number, Queues: []store.Quota{{Queue: queue, Most: b.t.batch}}, Max: b.t.batch, Lease: time.Minute,
		})
		if err != nil || len(claimed.Leases) == 0 {
			return err
		}
		r := &store.Report{Worker: worker, Rows: make([]store.ReportRow, len(claimed.Leases))}
		for i, l := range claimed.Leases {
			var p payload
			if err := json.Unmarshal(l.Payload, &p); err != nil {
				return fmt.Errorf("decode the payload of %v: %w", l.Key, err)
			}
			h.begin(p.Sent)
			r.Rows[i] = store.ReportRow{Key: l.Key, Outcome: store.Success{}}
		}
		reported, err := b.st.Report(ctx, r)
		if err != nil {
			return err
		}
		h.finished(succeeded(reported))
	}
}
