package main

import (
	"context"
	"log/slog"
	"sync"

	"backwave/store"
)

// passer is a store, hints included: what watches a store embeds one.
type passer struct{ store.Store }

var _ store.Hinter = passer{}

// lapses is a store that logs every lease that a sweep of this process found
// lapsed: who held it, and when it was last heard of.
type lapses struct {
	passer
	log     *slog.Logger
	telling sync.WaitGroup
}

// Hints implements store.Hinter. It gives none if the store beneath has none.
func (p passer) Hints(hint func(queue string)) (stop func()) {
	if h, ok := p.Store.(store.Hinter); ok {
		return h.Hints(hint)
	}
	return func() {}
}

// Sweep implements store.Leaser.
func (l *lapses) Sweep(ctx context.Context, r *store.Sweep) (*store.Swept, error) {
	out, err := l.Store.Sweep(ctx, r)
	if err == nil && len(out.Disposed) > 0 {
		l.telling.Go(func() { l.tell(out.Disposed) }) // the pump must not wait for the reads
	}
	return out, err
}

// tell logs lapses. The last renewal, or the claim if there was none, is the
// length of the lease before its end; a job's history knows that length.
func (l *lapses) tell(disposed []store.Lapse) {
	ctx, cancel := context.WithTimeout(context.Background(), askLimit)
	defer cancel()
	for _, p := range disposed {
		attrs := []any{"job", p.Key.Job, "attempt", p.Key.Attempt, "queue", p.Queue, "worker", p.Worker, "lease_ended", p.ExpiredAt.String(), "to", p.To.String()}
		if j, err := l.Job(ctx, p.Key.Job); err == nil {
			attrs = append(attrs, "name", j.Name)
			for _, e := range j.Ends {
				if e.Attempt == p.Key.Attempt {
					attrs = append(attrs, "last_renewal", p.ExpiredAt.Add(-e.Lease).String())
				}
			}
		}
		l.log.Warn("lease lapsed", attrs...)
	}
}
