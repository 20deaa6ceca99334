package simtest

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"backwave/engine"
	"backwave/scenarios"
	"backwave/sim"
	"backwave/sim/scenario"
)

// trial is a test that may fail without failing the test that makes it.
type trial struct {
	testing.TB
	name, dir string
	failed    bool
	said      strings.Builder
}

func (f *trial) Name() string              { return f.name }
func (f *trial) Helper()                   {}
func (f *trial) ArtifactDir() string       { return f.dir }
func (f *trial) Logf(s string, a ...any)   { fmt.Fprintf(&f.said, s+"\n", a...) }
func (f *trial) Errorf(s string, a ...any) { f.Logf(s, a...); f.failed = true }
func (f *trial) Fatalf(s string, a ...any) { f.Errorf(s, a...); exit() }
func (f *trial) Fatal(a ...any)            { f.Fatalf("%s", fmt.Sprint(a...)) }

// try runs a test to its end.
func try(t *testing.T, test func(t testing.TB)) *trial {
	f := &trial{TB: t, name: "TestTrial", dir: t.TempDir()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(f)
	}()
	<-done
	return f
}

// careless charges as often as it is run; careful keeps in the ledger what it
// has charged, under its token.
func careless(ctx context.Context, r *rig, job *engine.Job[string]) error {
	if err := engine.Sleep(ctx, time.Second); err != nil {
		return err
	}
	return r.w.Ledger().Write(ctx, "a", 1)
}

func careful(ctx context.Context, r *rig, job *engine.Job[string]) error {
	if err := engine.Sleep(ctx, time.Second); err != nil {
		return err
	}
	return r.w.Ledger().WriteFenced(ctx, job.Token(), "a", 1)
}

func transactional(ctx context.Context, r *rig, job *engine.Job[string]) error {
	return r.w.InTx(ctx, job, func(tx *Tx) error {
		tx.Write("a", 1)
		return engine.Sleep(ctx, time.Second)
	})
}

// forgetful makes no call that a fault could hit; it counts how often it is run.
func forgetful(_ context.Context, r *rig, _ *engine.Job[string]) error {
	r.w.ledger.add(Entry{Account: "a", Amount: 1})
	return nil
}

// onceOnly is the invariant that a careless handler violates.
func onceOnly(w *World) {
	w.AtEnd("once", func() error {
		if n := w.Ledger().Balance("a"); n > 1 {
			return fmt.Errorf("written %d times", n)
		}
		return nil
	})
}

func searched(t *testing.T, h handler) Scenario {
	r := newRig(t, h)
	r.sc.Nodes, r.check = 2, onceOnly
	return r.sc
}

func TestFindFindsAndShrinks(t *testing.T) {
	t.Chdir(t.TempDir())
	f := Find(t, searched(t, careless))
	if f == nil || f.Invariant != "once" || len(f.Timeline) != 1 || f.Tried > 200 {
		t.Fatalf("found %v", f)
	}
	t.Logf("%s", f)
}

func TestOneFaultIsNotLeftToChance(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, h := range []handler{careless, forgetful} {
		a, b := Find(t, searched(t, h)), Find(t, searched(t, h))
		if a == nil || b == nil || a.Tried > maxSingles || len(a.Timeline) != 1 || a.String() != b.String() {
			t.Errorf("found %v and %v", a, b)
		}
	}
}

func TestRapidFindsAndShrinks(t *testing.T) {
	t.Chdir(t.TempDir())
	manyChecks(t)
	f := Find(t, thrice(t))
	if f == nil || f.Invariant != "twice" || len(f.Timeline) != 2 || f.Tried <= len(f.Timeline) {
		t.Fatalf("found %v", f)
	}
	t.Logf("%s", f)
	if _, err := os.Stat("testdata"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it has left something: %v", err)
	}
}

// thrice is a scenario in which one fault breaks nothing, and two do.
func thrice(t *testing.T) Scenario {
	r := newRig(t, careless)
	r.sc.Nodes = 2
	r.check = func(w *World) {
		w.Always("twice", func() error {
			if n := w.Ledger().Balance("a"); n > 2 {
				return fmt.Errorf("written %d times", n)
			}
			return nil
		})
	}
	return r.sc
}

// manyChecks lets rapid try until it finds something.
func manyChecks(t *testing.T) {
	checks := flag.Lookup("rapid.checks").Value
	was := checks.String()
	if err := checks.Set("20000"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = checks.Set(was) })
}

func TestHandlersThatTakeCareHold(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, h := range []handler{careful, transactional} {
		if f := Find(t, searched(t, h)); f != nil {
			t.Errorf("%s", f)
		}
	}
}

// A failure is told in full, and what it leaves behind finds it again.
func TestAFailureIsPlayedAgain(t *testing.T) {
	t.Chdir(t.TempDir())
	manyChecks(t)
	sc := thrice(t)
	first := try(t, func(t testing.TB) { Check(t, sc) })
	if !first.failed {
		t.Fatal("nothing was found")
	}
	wantText(t, first.said.String(), "simtest: twice: written 3 times", "has 2 faults", "starts job, attempt 3", "VIOLATION of twice",
		"go test -run '^TestTrial$'", "testdata/rapid/TestTrial/", "testdata/simtest/TestTrial/NAME.yaml")

	plan := filepath.Join(first.dir, "plan.yaml")
	src, err := os.ReadFile(plan)
	if err != nil {
		t.Fatal(err)
	}
	story, err := os.ReadFile(filepath.Join(first.dir, "story.txt"))
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, string(story), "VIOLATION of twice")
	page, err := os.ReadFile(filepath.Join(first.dir, "timeline.html"))
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, string(page), "<html", "written 3 times", "do: lose-reply", "go test -run")
	wantText(t, first.said.String(), indent(string(src), "    "))

	t.Run("by the plan", func(t *testing.T) {
		t.Setenv(planVariable, plan)
		for _, run := range []func(testing.TB, Scenario){Check, Run} {
			again := try(t, func(t testing.TB) { run(t, sc) })
			wantText(t, again.said.String(), "twice: written 3 times", "VIOLATION of twice")
		}
		if held := try(t, func(tb testing.TB) { Check(tb, searched(t, careful)) }); held.failed {
			t.Errorf("a handler that takes care fails: %s", held.said.String())
		}
	})
	t.Run("by the file of rapid", func(t *testing.T) {
		again := try(t, func(t testing.TB) { Check(t, sc) })
		wantText(t, again.said.String(), "twice: written 3 times")
	})
	t.Run("from testdata", func(t *testing.T) {
		dir := filepath.Join("testdata", "simtest", "TestTrial")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "lost.yaml"), src, 0o644); err != nil {
			t.Fatal(err)
		}
		again := try(t, func(t testing.TB) { Run(t, sc) })
		wantText(t, again.said.String(), "twice: written 3 times")
		held := try(t, func(tb testing.TB) { Run(tb, searched(t, careful)) })
		if held.failed {
			t.Errorf("a handler that takes care fails: %s", held.said.String())
		}
		wantText(t, held.said.String(), "lost.yaml: all held")
	})
}

func TestPlansThatDoNotFit(t *testing.T) {
	t.Chdir(t.TempDir())
	sc := searched(t, careful)
	for text, want := range map[string]string{
		"level: pristine\n": "plan.yaml:1:1",
		"version: 9\n":      "9",
		"name: x\nlevel: adversarial\nfor: 1m\ngroups: [{name: g, queues: [q]}]\nnodes: [{name: n}]\njobs: [{id: other}]\n": `has a job "other"`,
	} {
		if err := os.WriteFile("plan.yaml", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Setenv(planVariable, "plan.yaml")
		f := try(t, func(t testing.TB) { Run(t, sc) })
		if !f.failed {
			t.Errorf("%q was played", text)
		}
		wantText(t, f.said.String(), want)
	}
	t.Setenv(planVariable, "missing.yaml")
	wantText(t, try(t, func(t testing.TB) { Run(t, sc) }).said.String(), "missing.yaml")
}

// Rapid takes any failure for as good as another. The search does not slip.
func TestShrinkingKeepsToTheFirstInvariant(t *testing.T) {
	t.Chdir(t.TempDir())
	sc := searched(t, careless)
	setup := sc.Setup
	sc.Setup = func(w *World) func() *engine.Mux {
		build := setup(w)
		w.Always("twice", func() error {
			if n := w.Ledger().Balance("a"); n > 2 {
				return fmt.Errorf("written %d times", n)
			}
			return nil
		})
		return build
	}
	s, err := sc.resolve("test")
	if err != nil {
		t.Fatal(err)
	}
	lose := func(attempt int) sim.Fault {
		return sim.OnHandler{Job: "job", Attempt: attempt, Nth: 2, Do: "lose-reply"}
	}
	one, two := s.judge([]sim.Fault{lose(1)}, true), s.judge([]sim.Fault{lose(1), lose(2)}, true)
	if one == nil || one.Invariant != "once" || two == nil || two.Invariant != "twice" {
		t.Fatalf("found %v and %v", one, two)
	}
	p := &search{set: s, pin: "twice"}
	if said := ask(t, p.try); p.found != nil && p.found.Invariant != "twice" {
		t.Errorf("slipped to %v: %s", p.found, said)
	}
}

// A world of the author's own: several groups, clocks, jobs by the dozen.
func TestAWorldOfYourOwn(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range scenarios.Names() {
		world, err := scenario.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		ran := 0
		sc := Scenario{World: world, Setup: func(w *World) func() *engine.Mux {
			return func() *engine.Mux {
				mux := engine.NewMux()
				for i := range world.Jobs {
					if n := cmp.Or(world.Jobs[i].Name, "work"); !slices.Contains(mux.Names(), n) {
						mux.HandleRaw(n, func(ctx context.Context, job *engine.RawJob) error {
							ran++
							if err := engine.Sleep(ctx, 20*time.Second); err != nil {
								return err
							}
							return w.Ledger().WriteFenced(ctx, job.Token(), "a", 1)
						})
					}
				}
				return mux
			}
		}}
		if f := try(t, func(t testing.TB) { Run(t, sc) }); f.failed {
			t.Errorf("%s: %s", name, f.said.String())
		}
		if ran == 0 {
			t.Errorf("%s: no handler ran", name)
		}
	}
}

func TestJobsOfAWorldGetTheirArgs(t *testing.T) {
	var got []string
	world, err := scenario.Parse("", []byte(`
name: x
level: pristine
for: 1m
groups: [{name: g, queues: [q], lease: 5s}]
nodes: [{name: a}, {name: b}]
jobs: [{id: one}, {id: many, count: 3, every: 1s, at: 1s}]
`))
	if err != nil {
		t.Fatal(err)
	}
	sc := Scenario{World: world, Jobs: []Job{{ID: "one", Args: "1"}, {ID: "many", Args: "n"}, {ID: "many-2", Args: "2"}}, Setup: func(*World) func() *engine.Mux {
		got = nil
		return func() *engine.Mux {
			mux := engine.NewMux()
			engine.Handle(mux, "work", func(_ context.Context, job *engine.Job[string]) error {
				got = append(got, job.Args)
				return nil
			})
			return mux
		}
	}}
	t.Chdir(t.TempDir())
	if f := Find(t, sc); f != nil {
		t.Errorf("%s", f)
	}
	Run(t, sc)
	if strings.Join(got, " ") != "1 n 2 n" {
		t.Errorf("the handlers were given %q", got)
	}
	sc.Jobs = append(sc.Jobs, Job{ID: "none"})
	wantText(t, try(t, func(t testing.TB) { Run(t, sc) }).said.String(), `the World has no job "none"`)
}

func TestMistakesInAScenario(t *testing.T) {
	setup := func(*World) func() *engine.Mux { return engine.NewMux }
	for want, sc := range map[string]Scenario{
		"field Setup is nil":                   {Jobs: []Job{{Name: "a"}}},
		"field Jobs is empty":                  {Setup: setup},
		"two jobs have the ID":                 {Setup: setup, Jobs: []Job{{Name: "a", ID: "x"}, {Name: "b", ID: "x"}}},
		"job 1 has no Name":                    {Setup: setup, Jobs: []Job{{}}},
		"field Nodes is 21":                    {Setup: setup, Jobs: []Job{{Name: "a"}}, Nodes: 21},
		"field Group":                          {Setup: setup, Jobs: []Job{{Name: "a"}}, Group: engine.Group{PoolSize: -1}},
		"Args of a":                            {Setup: setup, Jobs: []Job{{Name: "a", Args: make(chan int)}}},
		"sim.Forget":                           {Setup: setup, Jobs: []Job{{Name: "a"}}, Faults: []sim.Fault{sim.Forget{}}},
		`n9: unknown node, want one of n1, n2`: {Setup: setup, Jobs: []Job{{Name: "a"}}, Faults: []sim.Fault{sim.Crash{Node: "n9"}}},
	} {
		f := try(t, func(t testing.TB) { Run(t, sc) })
		if !f.failed {
			t.Errorf("%q was not found", want)
		}
		wantText(t, f.said.String(), want)
	}
}
