package simtest

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"backwave/checker"
	"backwave/sim"
	"backwave/sim/scenario"
	"backwave/sim/timeline"
)

// named replaces the ids of jobs in a text by the names of the scenario.
func named(r *sim.Result, text string) string {
	for i := range r.Jobs {
		if j := &r.Jobs[i]; !j.Row.ID.IsZero() {
			text = strings.ReplaceAll(text, j.Row.ID.String(), j.Name)
		}
	}
	return text
}

// tell plays the timeline of f once more, for its story, its plan and its page.
func (s *setting) tell(f *Failure, more []sim.Fault) {
	world := s.world(more)
	f.Timeline = world.Timeline
	f.Plan = scenario.Format(world, scenario.Header{Version: scenario.Version, Seed: s.Seed, Scenario: "simtest " + s.sim.Name})
	if f.Invariant == runnable {
		return // it would be the same again, after as long a wait
	}
	c := timeline.NewCollector(world)
	o := s.play(more, sim.Options{Observe: c.Observe, Story: func(l sim.Line) { f.Story = append(f.Story, l) }})
	for i := range f.Story {
		f.Story[i].Text = named(o.res, f.Story[i].Text)
	}
	k := slices.IndexFunc(f.Story, func(l sim.Line) bool { return l.At > f.At })
	if k < 0 {
		k = len(f.Story)
	}
	f.Story = slices.Insert(f.Story, k, sim.Line{At: f.At, Who: "checker", Text: "VIOLATION of " + f.Invariant + ": " + f.Message})
	f.page = c.Page(o.res)
	f.page.Plan = string(f.Plan)
	for _, x := range o.res.Linear.Findings[:min(len(o.res.Linear.Findings), 3)] {
		if e, ok := checker.FindExplanation(o.log, x.Job, checker.LinearOptions{}); ok {
			f.page.Explain(e)
		}
	}
}

// fail ends the test with all that is known of f.
func fail(t testing.TB, f *Failure) {
	t.Helper()
	t.Fatal(report(t, f))
}

// report writes what is known of f to where the test keeps what it leaves, and
// says it.
func report(t testing.TB, f *Failure) string {
	t.Helper()
	dir := t.ArtifactDir()
	again := fmt.Sprintf("go test -run '^%s$'", strings.ReplaceAll(t.Name(), "/", "$/^"))
	files, err := f.artifacts(again)
	for _, a := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(dir, a.name), a.data, 0o644))
	}
	if err != nil {
		t.Errorf("simtest: artifacts: %v", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", f)
	if kept := flag.Lookup("test.artifacts"); kept != nil && kept.Value.String() == "true" {
		fmt.Fprintf(&b, "to play it again: %s=%s %s\nto look at it: %s\n", planVariable, filepath.Join(dir, planFile), again, filepath.Join(dir, pageFile))
	} else {
		fmt.Fprintf(&b, "to play it again: %s (with -artifacts it leaves files: the plan, the story, a page to look at)\n", again)
	}
	if f.rapid != "" {
		fmt.Fprintf(&b, "rapid tries it first, for it has saved it as %s\n", f.rapid)
	}
	fmt.Fprintf(&b, "saved as testdata/simtest/%s/NAME.yaml, this plan is played by every run of the test:\n%s", folder(t.Name()), indent(string(f.Plan), "    "))
	return b.String()
}

// What a failure leaves.
const (
	planFile  = "plan.yaml"
	storyFile = "story.txt"
	pageFile  = "timeline.html"
)

type artifact struct {
	name string
	data []byte
}

// artifacts returns the files that f leaves; again is how to make it again.
func (f *Failure) artifacts(again string) ([]artifact, error) {
	out := []artifact{{planFile, f.Plan}, {storyFile, []byte(f.String() + "\n")}}
	if f.page == nil {
		return out, nil
	}
	f.page.Repeat = planVariable + "=" + planFile + " " + again
	var b bytes.Buffer
	err := f.page.Write(&b)
	return append(out, artifact{pageFile, b.Bytes()}), err
}

// String tells f: what was violated, by what timeline, and its story.
func (f *Failure) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "simtest: %s: %s\n", f.Invariant, f.Message)
	if f.stack != "" {
		fmt.Fprintf(&b, "%s\n", indent(f.stack, "    "))
	}
	how := "the timeline"
	if f.Tried > 0 {
		how = fmt.Sprintf("found by timeline %d; the smallest that does it", f.Tried)
	}
	fmt.Fprintf(&b, "%s has %s:\n", how, count(len(f.Timeline), "fault"))
	for _, l := range inFile(f.Timeline) {
		fmt.Fprintf(&b, "    %s\n", l)
	}
	if len(f.Story) > 0 {
		fmt.Fprintf(&b, "the story:\n%s", told(f.Story))
	}
	return strings.TrimSuffix(b.String(), "\n")
}

func count(n int, what string) string {
	switch n {
	case 0:
		return "no " + what
	case 1:
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// inFile writes faults as plan files do.
func inFile(faults []sim.Fault) (out []string) {
	text := string(scenario.Format(&sim.Scenario{Timeline: faults}, scenario.Header{}))
	_, text, _ = strings.Cut(text, "timeline:\n")
	for l := range strings.SplitSeq(text, "\n") {
		if !strings.HasPrefix(l, "  ") {
			break
		}
		out = append(out, strings.TrimPrefix(l, "  "))
	}
	return out
}

// told writes a story.
func told(lines []sim.Line) string {
	width := 0
	for _, l := range lines {
		width = max(width, len(l.Who))
	}
	var b strings.Builder
	for _, l := range quiet(lines) {
		fmt.Fprintf(&b, "    %10s  %-*s  %s\n", fmt.Sprintf("%.3fs", l.At.Seconds()), width, l.Who, l.Text)
	}
	return b.String()
}

// quiet leaves out the renewals that follow another one of the same lease.
func quiet(lines []sim.Line) (out []sim.Line) {
	var last string
	for _, l := range lines {
		lease, _, renewal := strings.Cut(l.Text, " until ")
		renewal = renewal && strings.HasPrefix(lease, "renews ")
		if renewal && last == l.Who+lease {
			continue
		}
		last = ""
		if renewal {
			last = l.Who + lease
		}
		out = append(out, l)
	}
	return out
}

func indent(text, by string) string {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	return by + strings.Join(lines, "\n"+by)
}

// folder is the name of a test as part of a path.
func folder(test string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == ':' {
			return '_'
		}
		return r
	}, test)
}
