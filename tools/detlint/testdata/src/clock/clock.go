// Package clock reads and waits on the wall clock.
package clock

import (
	"context"
	. "time"
	clk "time"
)

func read() Duration {
	t := clk.Now()    // want `time\.Now: the wall clock`
	d := clk.Since(t) // want `time\.Since: the wall clock`
	d += Until(t)     // want `time\.Until: the wall clock`
	f := clk.Now      // want `time\.Now: the wall clock`
	return d + f().Sub(t)
}

func wait(ctx context.Context) {
	clk.Sleep(1)                             // want `time\.Sleep: waits`
	clk.AfterFunc(1, func() {})              // want `time\.AfterFunc: waits`
	clk.NewTimer(1)                          // want `time\.NewTimer: waits`
	ctx, stop := context.WithTimeout(ctx, 1) // want `context\.WithTimeout: waits`
	defer stop()
	context.WithDeadlineCause(ctx, Time{}, nil) // want `context\.WithDeadlineCause: waits`
	context.AfterFunc(ctx, func() {})           // want `context\.AfterFunc: starts a goroutine`
}

func zones(us int64, t Time) {
	_ = clk.UnixMicro(us) // want `time\.UnixMicro: in the host's time zone`
	_ = clk.UnixMicro(us).UTC()
	_ = (clk.Unix(us, 0)).In(UTC)
	_, _ = clk.Parse(RFC3339, "")        // want `time\.Parse: in the host's time zone`
	_ = t.Local()                        // want `\(time\.Time\)\.Local: the host's time zone`
	_ = Date(1, 1, 1, 0, 0, 0, 0, Local) // want `time\.Local: the host's time zones`
	_, _ = LoadLocation("Europe/Berlin") // want `time\.LoadLocation: the host's time zones`
}

// now is taken, not read: none of this is a finding.
func taken(now Time) (Time, int64, bool) {
	return now.Add(3 * Second).Truncate(Second), now.Unix(), now.After(now.UTC())
}
