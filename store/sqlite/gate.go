package sqlite

import (
	"context"
	"slices"
	"sync"
)

// gate lets one call of this process at a time use the writing connection.
// Urgent ones go first, then those who came first: a renewal never stands
// behind sweeps and claims.
type gate struct {
	mu     sync.Mutex
	taken  bool
	urgent []chan struct{}
	others []chan struct{}
}

// enter waits until the gate is the caller's, or ctx ends.
func (g *gate) enter(ctx context.Context, urgent bool) error {
	g.mu.Lock()
	if !g.taken {
		g.taken = true
		g.mu.Unlock()
		return nil
	}
	line := &g.others
	if urgent {
		line = &g.urgent
	}
	turn := make(chan struct{})
	*line = append(*line, turn)
	g.mu.Unlock()
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	g.mu.Lock()
	i := slices.Index(*line, turn)
	if i >= 0 {
		*line = slices.Delete(*line, i, i+1)
	}
	g.mu.Unlock()
	if i < 0 { // it became ours at the same moment
		g.leave()
	}
	return context.Cause(ctx)
}

// leave hands the gate to the next.
func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, line := range []*[]chan struct{}{&g.urgent, &g.others} {
		if len(*line) > 0 {
			close((*line)[0])
			*line = slices.Delete(*line, 0, 1)
			return
		}
	}
	g.taken = false
}
