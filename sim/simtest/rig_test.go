package simtest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"backwave/engine"
	"backwave/sim"
	"backwave/store"
)

// rig is one world with one handler, as a test says it.
type rig struct {
	t     *testing.T
	sc    Scenario
	said  []string // by handlers, servers and the test, in order
	w     *World
	last  *outcome
	story []sim.Line
	check func(w *World)
}

type handler func(ctx context.Context, r *rig, job *engine.Job[string]) error

// newRig runs handle in attempts of the job "job".
func newRig(t *testing.T, handle handler, faults ...sim.Fault) *rig {
	r := &rig{t: t}
	r.sc = Scenario{
		Jobs:   []Job{{Name: "job", Args: "args"}},
		Faults: faults,
		Nodes:  1,
		Setup: func(w *World) func() *engine.Mux {
			r.w, r.said = w, nil
			w.Serve("server", http.HandlerFunc(func(rw http.ResponseWriter, q *http.Request) {
				r.say("%s is asked for %s", w.Elapsed().Round(time.Second), q.URL.Path)
				fmt.Fprint(rw, "hello")
			}))
			if r.check != nil {
				r.check(w)
			}
			return func() *engine.Mux {
				mux := engine.NewMux()
				engine.Handle(mux, "job", func(ctx context.Context, j *engine.Job[string]) error { return handle(ctx, r, j) })
				return mux
			}
		},
	}
	return r
}

func (r *rig) say(format string, args ...any) { r.said = append(r.said, fmt.Sprintf(format, args...)) }

// ask makes a request as handlers do.
func (r *rig) ask(ctx context.Context, path string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://server/"+path, nil)
	if err != nil {
		return err
	}
	res, err := r.w.HTTP().Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", res.StatusCode)
	}
	return nil
}

func (r *rig) ready() *setting {
	r.t.Helper()
	s, err := r.sc.resolve("rig")
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

// holds plays the world, which must hold, and be the same twice.
func (r *rig) holds() *rig {
	r.t.Helper()
	s := r.ready()
	r.story = nil
	r.last = s.play(nil, sim.Options{Story: func(l sim.Line) { r.story = append(r.story, l) }})
	f := r.last.failure()
	if r.last.res.Linear.Jobs == 0 {
		r.t.Error("the history was not checked")
	}
	if how := differs(r.last, s.play(nil, sim.Options{})); how != "" {
		f = &Failure{Invariant: deterministic, Message: how}
	}
	if f != nil {
		s.tell(f, nil)
		r.t.Fatalf("%s", f)
	}
	return r
}

// breaks plays the world, which must violate an invariant.
func (r *rig) breaks(invariant string) *Failure {
	r.t.Helper()
	f := r.ready().judge(nil, true)
	if f == nil || f.Invariant != invariant {
		r.t.Fatalf("found %v, want a violation of %q", f, invariant)
	}
	return f
}

// want compares what was said, and how the attempts of the job ended.
func (r *rig) want(ends string, said ...string) {
	r.t.Helper()
	var got []string
	for _, e := range r.last.res.Jobs[0].Row.Ends {
		got = append(got, e.Kind.String())
	}
	if s := strings.Join(got, " "); s != ends {
		r.t.Errorf("the attempts ended as %q, want %q\n%s", s, ends, told(r.story))
	}
	if !slices.Equal(r.said, said) {
		r.t.Errorf("said %q, want %q\n%s", r.said, said, told(r.story))
	}
}

// row is the job in the end.
func (r *rig) row() *store.Job { return &r.last.res.Jobs[0].Row }

func replaceToken(s string, r *rig) string {
	return strings.ReplaceAll(s, "TOKEN", store.Token{Job: r.row().ID, Attempt: 1}.String())
}
