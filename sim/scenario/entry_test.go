package scenario_test

import (
	"slices"
	"strings"
	"testing"

	"backwave/scenarios"
	"backwave/sim/scenario"
)

// TestTimelineLines: an entry of every shipped scenario stands on its line, which
// has all that EntryText says but for spans, which can be written in two ways.
func TestTimelineLines(t *testing.T) {
	entries := 0
	for _, name := range scenarios.Names() {
		src, err := scenarios.FS.ReadFile(scenarios.File(name))
		if err != nil {
			t.Fatal(err)
		}
		sc, err := scenario.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		lines, err := scenario.TimelineLines(name, src)
		if err != nil || len(lines) != len(sc.Timeline) || !slices.IsSorted(lines) {
			t.Fatalf("%s: lines %v, %v, for %d entries", name, lines, err, len(sc.Timeline))
		}
		text := strings.Split(string(src), "\n")
		for i, n := range lines {
			for _, piece := range strings.Split(strings.Trim(scenario.EntryText(sc.Timeline[i]), "{}"), ", ") {
				key, _, _ := strings.Cut(piece, ": ")
				if span := slices.Contains([]string{"at", "for", "by", "restart", "twice"}, key); !span && strings.HasSuffix(text[n-1], "}") && !strings.Contains(text[n-1], piece) {
					t.Errorf("%s:%d is %s, and the entry has %s", name, n, text[n-1], piece)
				}
			}
			entries++
		}
	}
	if entries < 20 {
		t.Errorf("only %d entries", entries)
	}
}

func TestTimelineLinesOfABadFile(t *testing.T) {
	if _, err := scenario.TimelineLines("bad", []byte("name: x")); err == nil {
		t.Error("a file that is no scenario has lines")
	}
}
