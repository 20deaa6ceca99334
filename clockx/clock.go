package clockx

import (
	"context"
	"time"

	"github.com/benbjohnson/clock"
)

// Clock is what a program that waits needs of time. Implementations are safe
// for concurrent use.
type Clock interface {
	// Now returns the current time, with a monotonic reading if the clock has
	// one.
	Now() time.Time
	// AfterFunc calls f once, in a goroutine of its own, when d has passed; at
	// once if d is not positive.
	AfterFunc(d time.Duration, f func()) Timer
}

// Timer is a call that a Clock still owes. A call that has begun cannot be
// stopped; nobody waits for it.
type Timer interface {
	// Stop takes the call back and reports whether it was still owed.
	Stop() bool
	// Reset makes the call due d from now, whether or not it was made, and
	// reports whether it was still owed.
	Reset(d time.Duration) bool
}

// Wall is the real clock.
type Wall struct{}

// Now implements Clock.
func (Wall) Now() time.Time { return time.Now() }

// AfterFunc implements Clock.
func (Wall) AfterFunc(d time.Duration, f func()) Timer { return time.AfterFunc(d, f) }

// Mock is a clock that stands still until it is told to move: for small tests
// of whoever waits on it. Its time has no monotonic part.
type Mock struct{ mock *clock.Mock }

// NewMock returns a Mock that shows the start of the Unix epoch.
func NewMock() *Mock { return &Mock{clock.NewMock()} }

// Now implements Clock.
func (m *Mock) Now() time.Time { return m.mock.Now() }

// AfterFunc implements Clock.
func (m *Mock) AfterFunc(d time.Duration, f func()) Timer { return m.mock.AfterFunc(d, f) }

// Add moves m forward by d and makes the calls that come due on the way, in
// order. Each has begun, though perhaps not ended, when Add returns.
func (m *Mock) Add(d time.Duration) { m.mock.Add(d) }

// Set moves m to t. Back in time it makes no call.
func (m *Mock) Set(t time.Time) { m.mock.Set(t) }

// Sleep waits until d has passed on c, or until ctx ends, whose cause it then
// returns.
func Sleep(ctx context.Context, c Clock, d time.Duration) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	done := make(chan struct{})
	t := c.AfterFunc(d, func() { close(done) })
	defer t.Stop()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// WithTimeout returns a copy of parent that ends with cause when d has passed
// on c. Unlike a deadline of package context it follows any Clock. The caller
// must call cancel.
func WithTimeout(parent context.Context, c Clock, d time.Duration, cause error) (ctx context.Context, cancel func()) {
	ctx, end := context.WithCancelCause(parent)
	t := c.AfterFunc(d, func() { end(cause) })
	return ctx, func() {
		t.Stop()
		end(context.Canceled)
	}
}
