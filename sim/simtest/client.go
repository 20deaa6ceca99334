package simtest

import (
	"context"
	"encoding/binary"
	"errors"
	"time"

	"backwave/clockx"
	"backwave/engine"
	"backwave/sim"
	"backwave/store"
)

// enqueuePatience is how long a client waits for the answer of the store.
const enqueuePatience = 10 * time.Second

// Client returns a client with which handlers add jobs, to the first queue of
// the group unless they say otherwise. Each send of it is a call that a timeline
// can hit. The story calls a job that one called a has added, and whose name is
// b, "b/a"; ids are the same in every run of one timeline.
func (w *World) Client() *engine.Client {
	return engine.NewClient(engine.ClientConfig{Store: (*enqueuer)(w), Queue: w.set.queue, Clock: (*calendar)(w), Random: (*counter)(w)})
}

// Jobs returns the jobs of a name as the store has them, in the order in which
// they were added. They must not be changed.
func (w *World) Jobs(name string) (out []*store.Job) {
	if w.view == nil {
		return nil
	}
	w.view.Each(func(j *store.Job) {
		if j.Name == name {
			c := *j
			out = append(out, &c)
		}
	})
	return out
}

type enqueuer World

// Enqueue implements store.Enqueuer.
func (e *enqueuer) Enqueue(ctx context.Context, req *store.Enqueue) (*store.Enqueued, error) {
	w := (*World)(e)
	co := w.crew.caller("World.Client")
	co.mine("World.Client")
	for i := range req.Jobs {
		j := &req.Jobs[i]
		w.crew.note("%s enqueues %s %v %x", co.name(), j.Name, j.ID, fingerprint(j.Payload))
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var answer *store.Enqueued
	err := co.call(ctx, sim.NeedEnqueue{Req: req, Patience: enqueuePatience, Got: func(r *store.Enqueued) { answer = r }})
	switch {
	case errors.Is(err, sim.ErrNoAnswer):
		return nil, &store.TransientError{Fault: store.FaultTimeout, Err: err}
	case errors.Is(err, sim.ErrTold):
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, err
	}
	return answer, nil
}

// calendar is the clock by which a client dates ids. Nothing ever waits on it.
type calendar World

// Now implements clockx.Clock.
func (c *calendar) Now() time.Time { return c.view.Now() }

// AfterFunc implements clockx.Clock: the world itself gives calls up.
func (c *calendar) AfterFunc(time.Duration, func()) clockx.Timer { return noTimer{} }

type noTimer struct{}

// Stop implements clockx.Timer.
func (noTimer) Stop() bool { return true }

// Reset implements clockx.Timer.
func (noTimer) Reset(time.Duration) bool { return true }

// counter is a source of ids that differ within a run and are the same in every
// run.
type counter World

// Read implements io.Reader.
func (c *counter) Read(p []byte) (int, error) {
	clear(p)
	c.ids++
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], c.ids)
	copy(p[max(0, len(p)-len(b)):], b[max(0, len(b)-len(p)):])
	return len(p), nil
}
