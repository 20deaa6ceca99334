package shrink

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"backwave/sim"
	"backwave/sim/scenario"
)

// TestTidyLeavesSoundPlans takes single things out of random worlds: whatever
// spoke of them must be gone as well, and nothing else.
func TestTidyLeavesSoundPlans(t *testing.T) {
	for seed := uint64(1); seed <= 20; seed++ {
		sc := sim.Random(seed)
		if len(sc.Jobs) > 20 {
			continue
		}
		sound := func(what string, change func(*sim.Scenario)) {
			c := clone(sc)
			change(c)
			tidy(c)
			if len(c.Nodes) == 0 || len(c.Groups) == 0 {
				return // no world at all
			}
			if _, err := scenario.Parse(what, scenario.Format(c, scenario.Header{})); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		sound("nothing", func(*sim.Scenario) {})
		before := scenario.Format(sc, scenario.Header{})
		for i := range sc.Nodes {
			sound("node "+sc.Nodes[i].Name, func(c *sim.Scenario) { c.Nodes = slices.Delete(c.Nodes, i, i+1) })
		}
		for i := range sc.Groups {
			sound("group "+sc.Groups[i].Name, func(c *sim.Scenario) { c.Groups = slices.Delete(c.Groups, i, i+1) })
			sound("pumps of "+sc.Groups[i].Name, func(c *sim.Scenario) { c.Groups[i].Pumps = 0 })
		}
		for i := range sc.Jobs {
			sound("job "+sc.Jobs[i].ID, func(c *sim.Scenario) { c.Jobs = slices.Delete(c.Jobs, i, i+1) })
		}
		for _, part := range []time.Duration{2, 10, 1000} {
			sound("time", func(c *sim.Scenario) { c.For /= part })
		}
		if string(scenario.Format(sc, scenario.Header{})) != string(before) {
			t.Fatalf("seed %d: the original has changed", seed)
		}
	}
}

// TestTidyLeavesAloneWhatIsSound: of a world from which nothing was taken,
// nothing goes.
func TestTidyLeavesAloneWhatIsSound(t *testing.T) {
	for seed := uint64(1); seed <= 100; seed++ {
		sc := sim.Random(seed)
		c := clone(sc)
		tidy(c)
		if a, b := string(scenario.Format(sc, scenario.Header{})), string(scenario.Format(c, scenario.Header{})); a != b {
			t.Fatalf("seed %d was\n%s\nand is\n%s", seed, a, b)
		}
	}
}

// TestSimplerIsSimpler: a search ends because no chain of simpler values does
// not: each has fewer figures, or as many and is nearer to zero, on the same
// side of it.
func TestSimplerIsSimpler(t *testing.T) {
	figures := func(d time.Duration) int {
		return len(strings.TrimRight(strings.TrimLeft(strconv.FormatInt(int64(d), 10), "-"), "0"))
	}
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(int64(-100*time.Hour), int64(100*time.Hour)).Draw(t, "span"))
		list := simplerSpans(d)
		if d != 0 && (len(list) == 0 || list[0] != 0) {
			t.Fatalf("nothing at all is not tried first: %v", list)
		}
		for _, x := range list {
			fewer := figures(x) < figures(d) || figures(x) == figures(d) && x.Abs() < d.Abs()
			if x != 0 && (!fewer || x > 0 != (d > 0)) {
				t.Fatalf("%v is no simpler than %v", x, d)
			}
		}
		n := rapid.Int64().Draw(t, "number")
		for _, x := range simplerNumbers(n) {
			if x != 0 && (x > 0 != (n > 0) || n > 0 && x >= n || n < 0 && x <= n) {
				t.Fatalf("%d is no less than %d", x, n)
			}
		}
	})
}
