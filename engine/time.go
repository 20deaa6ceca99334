package engine

import (
	"context"
	"time"

	"backwave/clockx"
)

// Time is what a handler's time is made of. Whoever surrounds a Shell hands its
// own to handlers with WithTime: the Engine that of its clock, a simulator a
// virtual one.
type Time interface {
	// Now returns the wall clock of the node on which the handler runs.
	Now() time.Time
	// Sleep waits until d has passed, or until ctx ends, whose cause it then
	// returns. A d that is not positive does not wait.
	Sleep(ctx context.Context, d time.Duration) error
}

type timeKey struct{}

// WithTime returns a copy of ctx in which Now and Sleep go by t.
func WithTime(ctx context.Context, t Time) context.Context {
	return context.WithValue(ctx, timeKey{}, t)
}

// Now returns the time as the node sees it on which the handler of ctx runs. A
// handler that asks it, and not package time, can be run in virtual time. A ctx
// that is no handler's has the time of the machine.
func Now(ctx context.Context) time.Time { return timeOf(ctx).Now() }

// Sleep waits until d has passed, or until ctx ends, whose cause it then
// returns: one of the Err variables of this package says why a handler is to
// stop. A d that is not positive does not wait, but an ended ctx is told all the
// same. As for Now, a handler that sleeps so can be run in virtual time.
func Sleep(ctx context.Context, d time.Duration) error { return timeOf(ctx).Sleep(ctx, d) }

func timeOf(ctx context.Context) Time {
	if t, ok := ctx.Value(timeKey{}).(Time); ok {
		return t
	}
	return clockTime{clockx.Wall{}}
}

// clockTime is the time of a clock.
type clockTime struct{ clock clockx.Clock }

// Now implements Time.
func (c clockTime) Now() time.Time { return c.clock.Now() }

// Sleep implements Time.
func (c clockTime) Sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	return clockx.Sleep(ctx, c.clock, d)
}
