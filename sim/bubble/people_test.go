package bubble

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"backwave/clockx"
	"backwave/engine"
	"backwave/sim"
	"backwave/store"
)

// job is a job of the plan.
type job struct {
	name     string
	id       store.JobID
	spec     *sim.Job
	run      []sim.Script
	at       time.Duration
	routed   string // the name by which its handler is found
	attempts []*attempt
	forced   bool // somebody has ended a lease by force
	damaged  bool
	held     int
}

// nobody is the name of jobs that have no handler. A process knows a name or
// does not: a job whose first script ends as unknown has this one for good.
const nobody = "nobody"

func (j *job) script(attempt int) *sim.Script { return &j.run[min(attempt, len(j.run))-1] }

func (w *world) addJobs() {
	for i := range w.sc.Jobs {
		spec := &w.sc.Jobs[i]
		for k := range max(1, spec.Count) {
			j := &job{name: spec.ID, spec: spec, run: spec.Run, at: spec.At + time.Duration(k)*spec.Every, routed: spec.Name}
			if spec.Count > 1 {
				j.name = fmt.Sprintf("%s-%d", spec.ID, k+1)
			}
			if len(j.run) == 0 {
				j.run = []sim.Script{{For: time.Second}}
			}
			if j.routed == "" {
				j.routed = "work"
			}
			if j.run[0].End == "unknown" {
				j.routed = nobody
			} else if !slices.Contains(w.names, j.routed) {
				w.names = append(w.names, j.routed)
			}
			j.id = store.NewJobID((epoch+int64(j.at))/int64(time.Millisecond), w.chance(4, text(j.name)), w.chance(5, text(j.name)))
			w.jobs = append(w.jobs, j)
			w.byID[j.id] = j
		}
	}
}

func (w *world) named(name string) *job {
	return w.jobs[slices.IndexFunc(w.jobs, func(j *job) bool { return j.name == name })]
}

// enqueue has the production client add j.
func (w *world) enqueue(c *engine.Client, j *job) {
	opts := []engine.EnqueueOption{engine.ID(j.id), engine.In(j.spec.In), engine.MaxAttempts(j.spec.MaxAttempts), engine.Unique(j.spec.Unique)}
	if j.spec.Queue != "" {
		opts = append(opts, engine.Queue(j.spec.Queue))
	}
	var payload any
	if j.spec.Payload > 1 {
		text := make([]byte, j.spec.Payload)
		for i := range text {
			text[i] = ' '
		}
		copy(text, "{}")
		payload = text
	}
	r, err := c.Enqueue(w.ctx, j.routed, payload, opts...)
	if w.ctx.Err() != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, there := w.store.Lookup(j.id); err == nil && !there && !r.Existing {
		w.breachLocked("the client says that %s was added, and it was not", j.name)
	}
	if err != nil {
		w.breachLocked("the enqueue of %s: %v", j.name, err)
	}
}

// asked judges that what the client sends is what it was asked to add.
func (w *world) asked(r *store.Enqueue) {
	got := &r.Jobs[0]
	j := w.byID[got.ID]
	if j == nil {
		w.breachLocked("the client sends a job as %v, and nobody has added that", got.ID)
		return
	}
	queue := j.spec.Queue
	if queue == "" {
		queue = w.sc.Groups[0].Config.Queues[0].Name
	}
	if got.Name != j.routed || got.Queue != queue || got.HasAt || got.Delay != j.spec.In || got.MaxAttempts != j.spec.MaxAttempts || got.UniqueKey != j.spec.Unique {
		w.breachLocked("the client sends %s as %+v", j.name, *got)
	}
}

// command lets an operator send command number i of the plan, perhaps twice.
func (w *world) command(people *wire, i int, at, twice time.Duration, lost bool, c store.Command) {
	id := fmt.Sprintf("request-%d", i)
	w.mu.Lock()
	w.lost[id] = lost
	w.mu.Unlock()
	send := func() {
		ctx, cancel := clockx.WithTimeout(w.ctx, clockx.Wall{}, 10*time.Second, errors.New("the operator has lost patience"))
		defer cancel()
		if done, err := people.Do(ctx, &store.Do{Actor: "operator", RequestID: id, Command: c}); err == nil && done.Result == store.DoChanged {
			w.reached(fmt.Sprintf("people/%T", c))
			if done.Repeat {
				w.reached("people/repeat")
			}
		}
	}
	w.task(func() {
		if !w.sleep(at) {
			return
		}
		if c, ok := c.(store.Cancel); ok && c.Force {
			w.mu.Lock()
			w.byID[c.Job].forced = true
			w.mu.Unlock()
		}
		send()
		if twice > 0 && w.sleep(twice) {
			send()
		}
	})
}
