package simtest

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"backwave/sim"
	"backwave/sim/scenario"
)

// planVariable names the environment variable with the plan to be played.
const planVariable = "BW_PLAN"

// replayed plays the plans that there are for this test, and reports whether
// nothing else is to be played.
func replayed(t testing.TB, s *setting) bool {
	t.Helper()
	if file := os.Getenv(planVariable); file != "" {
		replay(t, s, file)
		return true
	}
	files, err := filepath.Glob(filepath.Join("testdata", "simtest", folder(t.Name()), "*.yaml"))
	if err != nil {
		t.Fatalf("simtest: %v", err)
	}
	slices.Sort(files)
	for _, f := range files {
		replay(t, s, f)
	}
	return false
}

// replay plays the plan in file with the handlers of s.
func replay(t testing.TB, s *setting, file string) {
	t.Helper()
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("simtest: plan: %v", err)
	}
	sc, header, err := scenario.ParsePlan(file, src)
	if err != nil {
		t.Fatalf("simtest: plan:\n%v", err)
	}
	for i := range sc.Jobs {
		if _, ok := s.payloads[sc.Jobs[i].ID]; !ok {
			t.Fatalf("simtest: %s has a job %q, and the test's scenario has none of that ID", file, sc.Jobs[i].ID)
		}
	}
	planned := *s
	planned.sim, planned.Seed = *sc, header.Seed
	planned.sim.Level = sim.Adversarial
	if f := planned.judge(nil, true); f != nil {
		planned.tell(f, nil)
		fail(t, f)
	}
	t.Logf("simtest: %s: all held", file)
}
