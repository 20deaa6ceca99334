package simtest

import (
	"context"
	"time"

	"backwave/sim"
	"backwave/store"
)

type completion = store.Completion

// Now implements engine.Time: the wall clock of the handler's node.
func (co *coroutine) Now() time.Time {
	co.mine("engine.Now")
	return co.attempt.Now()
}

// Sleep implements engine.Time.
func (co *coroutine) Sleep(ctx context.Context, d time.Duration) error {
	co.mine("engine.Sleep")
	co.crew.note("%s sleeps %v", co.name(), d)
	if ctx.Err() != nil || d <= 0 {
		return context.Cause(ctx)
	}
	_ = co.call(ctx, sim.NeedSleep{For: d})
	return context.Cause(ctx)
}
