// Package schedule leaves decisions to the scheduler.
package schedule

import (
	"iter"
	"reflect"
	"sync"        // want `import of sync: a simulated package has one thread`
	"sync/atomic" // want `import of sync/atomic: a simulated package has one thread`
)

type box struct {
	mu sync.Mutex
	n  atomic.Int64
	c  chan int // want `channel type`
}

type done interface{ Done() <-chan struct{} } // want `channel type`

func (b *box) all(ctx done) {
	go b.all(ctx)       // want `go statement`
	b.c <- 1            // want `channel send`
	<-b.c               // want `channel receive`
	_ = make(chan bool) // want `channel type`
	for range b.c {     // want `range over a channel`
	}
	select { // want `select: a random choice`
	case <-ctx.Done(): // want `channel receive`
	default:
	}
}

func each[C ~chan int](c C) { // want `channel type`
	for range c { // want `range over a channel`
	}
}

func pull(seq iter.Seq[int]) {
	next, stop := iter.Pull(seq) // want `iter\.Pull: runs its function on a goroutine`
	defer stop()
	next()
}

func mirror(v reflect.Value) {
	v.Recv()            // want `\(reflect\.Value\)\.Recv: channel operation`
	reflect.Select(nil) // want `reflect\.Select: channel operation`
}
