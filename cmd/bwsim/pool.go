package main

import (
	"context"
	"sync"
)

// inOrder calls do for each of 0 to n-1, on so many goroutines, and sends what
// it returns in that order, whichever is ready first. Once ctx is done nothing
// more is begun; what is under way is finished. The channel must be read until
// it is closed.
func inOrder[T any](ctx context.Context, n, workers int, do func(worker, i int) T) <-chan T {
	type place struct {
		i    int
		done chan T
	}
	work := make(chan place)
	line := make(chan chan T, 4*workers) // bounds what waits for its turn
	out := make(chan T)
	go func() {
		defer close(work)
		defer close(line)
		for i := range n {
			if ctx.Err() != nil {
				return
			}
			p := place{i, make(chan T, 1)}
			line <- p.done
			work <- p
		}
	}()
	var all sync.WaitGroup
	for k := range workers {
		all.Go(func() {
			for p := range work {
				p.done <- do(k, p.i)
			}
		})
	}
	go func() {
		defer close(out)
		for done := range line {
			out <- <-done
		}
		all.Wait()
	}()
	return out
}
