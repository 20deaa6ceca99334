//go:build unix

package nemesis

import (
	"os/exec"
	"reflect"
	"slices"
	"testing"
	"time"
)

func planOf(t *testing.T, c Config) []Fault {
	t.Helper()
	c.Dir, c.Worker = t.TempDir(), func([]string) (*exec.Cmd, error) { return nil, exec.ErrNotFound }
	c, err := c.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	return c.plan()
}

func on(plan []Fault, target string) (out []Fault) {
	for _, f := range plan {
		if f.Target == target {
			out = append(out, f)
		}
	}
	return out
}

func TestPlanIsDecidedBySeed(t *testing.T) {
	a := planOf(t, Config{Seed: 7})
	if !reflect.DeepEqual(a, planOf(t, Config{Seed: 7})) {
		t.Error("one seed has two plans")
	}
	if reflect.DeepEqual(a, planOf(t, Config{Seed: 8})) {
		t.Error("two seeds have one plan")
	}
}

// Whoever else there is changes nothing for n1, and what happens to one target
// happens one thing at a time, within the time of trouble.
func TestEachTargetHasItsOwnPlan(t *testing.T) {
	few, many := planOf(t, Config{Seed: 3, Workers: 1}), planOf(t, Config{Seed: 3, Workers: 9})
	for _, target := range []string{"n1", "connection of n1", "connection of client", "server"} {
		if got := on(many, target); len(got) == 0 || !reflect.DeepEqual(on(few, target), got) {
			t.Errorf("%s: %d faults with one worker, %d with nine", target, len(on(few, target)), len(got))
		}
		var free time.Duration
		for _, f := range on(many, target) {
			if f.At < free || f.At+f.For > time.Minute {
				t.Errorf("%s: %+v, and it is free at %v only", target, f, free)
			}
			free = f.At + f.For
		}
	}
	if !slices.IsSortedFunc(many, func(a, b Fault) int { return int(a.At - b.At) }) {
		t.Error("the plan is not in order of time")
	}
}

// Every kind happens to whom it can happen, and to nobody else.
func TestKindsOfStores(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		want []string // targets
	}{
		{Config{}, []string{onProcess, onConnection, onServer}},
		{Config{URL: "postgres://127.0.0.1/x"}, []string{onProcess, onConnection}},
		{Config{Store: SQLite}, []string{onProcess, onFile}},
	} {
		seen := map[Kind]bool{}
		for seed := range uint64(5) {
			c.cfg.Seed, c.cfg.For, c.cfg.Pace = seed, 10*time.Minute, time.Second
			for _, f := range planOf(t, c.cfg) {
				seen[f.Kind] = true
			}
		}
		for _, k := range Kinds() {
			if seen[k] != slices.Contains(c.want, k.Target()) {
				t.Errorf("%+v: %s happens: %v", c.cfg, k, seen[k])
			}
		}
	}
}

func TestOnlySomeKinds(t *testing.T) {
	plan := planOf(t, Config{Only: []Kind{Freeze}})
	if len(plan) == 0 || slices.ContainsFunc(plan, func(f Fault) bool { return f.Kind != Freeze }) {
		t.Errorf("got %+v", plan)
	}
}

func TestConfigWithMistakes(t *testing.T) {
	_, err := Config{Store: "papyrus", URL: "x", For: 1, Workers: -1, Jobs: -1, Pace: 1, Only: []Kind{"flood"}}.withDefaults()
	const want = `store is "papyrus", want postgres or sqlite
there is the URL of a PostgreSQL server, and the store is papyrus
the server's address does not begin with postgres:// or postgresql://
trouble lasts 1ns, want at least 1s
there are -1 workers, want 1 to 20
there are -1 jobs, want at least 1
faults are 1ns apart, want at least 50ms
there is no folder for the histories
nobody starts workers
there is no fault "flood"`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	c := Config{Store: SQLite, Dir: t.TempDir(), Worker: func([]string) (*exec.Cmd, error) { return nil, nil }, Only: []Kind{Crash}}
	if _, err := c.withDefaults(); err == nil || err.Error() != "no server meets fault crash on sqlite" {
		t.Errorf("got %v", err)
	}
}
