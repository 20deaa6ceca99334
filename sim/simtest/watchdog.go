package simtest

import (
	"bytes"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"backwave/clockx"
	"backwave/sim"
)

// foul is a handler that cannot be run in the simulated world.
type foul struct {
	text  string
	stack string
}

// watchdog sees to it, in real time and outside of all decisions, that the
// handler which runs comes back to the world.
type watchdog struct {
	patience time.Duration
	bark     chan struct{}
	timer    clockx.Timer
	dying    atomic.Uint64 // goroutine that is on its way out of a dead process; 0 = none

	mu     sync.Mutex
	caught *foul // a goroutine that has no business here
}

func newWatchdog(patience time.Duration) *watchdog {
	d := &watchdog{patience: patience, bark: make(chan struct{}, 1)}
	d.timer = clockx.Wall{}.AfterFunc(patience, func() { d.bark <- struct{}{} })
	d.rest()
	return d
}

// rest stops the timer, and takes back a bark that came too late.
func (d *watchdog) rest() {
	if !d.timer.Stop() {
		<-d.bark
	}
}

// wait returns what the handler needs next, unless patience ends: twice, since
// the first end of it may be that of a process which was frozen as a whole.
func (d *watchdog) wait(co *coroutine) (sim.Need, bool) {
	for range 2 {
		d.timer.Reset(d.patience / 2)
		select {
		case n := <-co.needs:
			d.rest()
			return n, true
		case <-d.bark:
		}
	}
	return nil, false
}

// blocked says where a handler is that did not come back.
func (d *watchdog) blocked(co *coroutine) *foul {
	if f := d.stranger(); f != nil {
		return f
	}
	return &foul{
		text:  fmt.Sprintf("the handler of %s has not come back to the simulated world for %v: it may wait in engine.Sleep and in the fakes of simtest only, not on channels, locks, the net, goroutines or time.Sleep", co.name(), d.patience),
		stack: stackOf(co.id.Load()),
	}
}

// bite books that a goroutine other than the handler's has called what.
func (d *watchdog) bite(co *coroutine, what string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.caught == nil {
		d.caught = &foul{
			text:  fmt.Sprintf("%s was called for %s by a goroutine that is not the handler's: handlers must not start goroutines in the simulated world", what, co.name()),
			stack: stackOf(goroutine()),
		}
	}
}

// stranger returns what bite has booked.
func (d *watchdog) stranger() *foul {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.caught
}

// goroutine returns the number of the calling goroutine.
func goroutine() uint64 {
	var buf [40]byte
	b := bytes.TrimPrefix(buf[:runtime.Stack(buf[:], false)], []byte("goroutine "))
	n, _, _ := bytes.Cut(b, []byte(" "))
	id, err := strconv.ParseUint(string(n), 10, 64)
	if err != nil {
		panic("simtest: a stack does not begin with the number of its goroutine")
	}
	return id
}

// stackOf returns the stack of a goroutine.
func stackOf(id uint64) string {
	buf := make([]byte, 1<<16)
	for {
		if n := runtime.Stack(buf, true); n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	prefix := fmt.Appendf(nil, "goroutine %d ", id)
	for s := range bytes.SplitSeq(buf, []byte("\n\n")) {
		if bytes.HasPrefix(s, prefix) {
			return string(s)
		}
	}
	return "(its stack could not be found)"
}

// exit ends the calling goroutine, deferred functions included.
func exit() { runtime.Goexit() }
