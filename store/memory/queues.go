package memory

import (
	"context"
	"slices"
	"strings"

	"backwave/store"
)

// Queues implements store.Reader. It looks at every job of the store.
func (l *Locked) Queues(ctx context.Context) ([]store.QueueView, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	views := make([]store.QueueView, len(l.s.queues))
	for i := range views {
		views[i] = store.QueueView{Name: l.s.queues[i].name, Paused: l.s.queues[i].paused, Jobs: map[store.State]int{}}
	}
	for slot := range l.s.rows {
		views[l.s.places[slot].queue].Jobs[l.s.rows[slot].State]++
	}
	views = slices.DeleteFunc(views, func(v store.QueueView) bool { return !v.Paused && len(v.Jobs) == 0 })
	slices.SortStableFunc(views, func(a, b store.QueueView) int { return strings.Compare(a.Name, b.Name) })
	return views, nil
}
