package pump_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"backwave/engine/pump"
)

const traces = "testdata/trace"

// TestTraces plays the scripts in testdata/trace. What stands under ---- is
// written by the machine, with -rewrite, and read by the reviewer. The ghost
// judges every step as well, so that a rewritten trace cannot hide a broken
// rule.
func TestTraces(t *testing.T) {
	for _, name := range traceNames(t) {
		t.Run(name, func(t *testing.T) {
			s := &script{}
			datadriven.RunTest(t, filepath.Join(traces, name), func(t *testing.T, d *datadriven.TestData) string {
				out, err := s.play(d)
				if err != nil {
					d.Fatalf(t, "%s: %v", d.Cmd, err)
				}
				if d.Expected != out && !d.Rewrite {
					t.Logf("to renew: go test ./engine/pump -run 'TestTraces/%s$' -rewrite", name)
				}
				return out
			})
		})
	}
}

// TestTraceTable checks that docs/traces.md names each trace, and that no page
// in docs names one that does not exist.
func TestTraceTable(t *testing.T) {
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	have, listed := traceNames(t), map[string]bool{}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile("`trace/([^`]*)`").FindAllStringSubmatch(string(text), -1) {
			if !slices.Contains(have, m[1]) {
				t.Errorf("%s names the trace %q, which does not exist", filepath.Base(page), m[1])
			}
			listed[m[1]] = listed[m[1]] || filepath.Base(page) == "traces.md"
		}
	}
	for _, name := range have {
		if !listed[name] {
			t.Errorf("docs/traces.md does not name the trace %q", name)
		}
	}
}

// TestTraceLanguage checks that a script with a mistake is refused, and says
// where it is.
func TestTraceLanguage(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"claimd op=1", `unknown word "claimd"`},
		{"at", "want a time"},
		{"at 5s", "back in time"},
		{"+-1s", "back in time"},
		{"woken now", `unknown word "now"`},
		{"claimed op=x", `"x" is no number`},
		{"claimed op=1 j1", `"j1" is no key`},
		{"claimed op=1 j1#1 name", `unknown word "name"`},
		{"renewed op=1 all", "op=1 is a claim"},
		{"renewed op=9 all", "op=9 was never sent"},
		{"failed op=1 flaky", `unknown fault "flaky"`},
		{"returned j1#1@1", "want a key and an outcome"},
		{"returned j1#1@1 won", `unknown outcome "won"`},
		{"returned j1#1@1 snooze", `unknown outcome "snooze"`},
		{"returned j1#1@1 success=() 5", `unknown word "5"`},
		{"completing j1", `"j1" is no key`},
		{"completed j1#1@1", `unknown end ""`},
		{"completed j1#1@1 won", `unknown end "won"`},
		{"pump queues=(a) pol=1s", `unknown word "pol"`},
		{"pump queues=(a) pool=many", `"many" is no number`},
	} {
		s := &script{}
		if _, err := s.play(directive(t, "pump queues=(a)")); err != nil {
			t.Fatal(err)
		}
		if _, err := s.play(directive(t, "at 10s")); err != nil {
			t.Fatal(err)
		}
		_, err := s.play(directive(t, c.line))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: the error is %v, want one with %s", c.line, err, c.want)
		}
	}
}

// directive parses a line followed by an optional input line for each row.
func directive(t *testing.T, line string) *datadriven.TestData {
	t.Helper()
	input := ""
	if cmd, row, ok := strings.Cut(line, " j"); ok && strings.HasPrefix(cmd, "claimed") {
		line, input = cmd, "j"+row
	}
	cmd, args, err := datadriven.ParseLine(line)
	if err != nil {
		t.Fatal(err)
	}
	return &datadriven.TestData{Cmd: cmd, CmdArgs: args, Input: input}
}

func traceNames(t *testing.T) (names []string) {
	t.Helper()
	files, err := os.ReadDir(traces)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		names = append(names, f.Name())
	}
	if len(names) == 0 {
		t.Fatalf("no trace in %s", traces)
	}
	return names
}

// script plays the directives of one file.
type script struct {
	cfg   pump.Config
	pump  *pump.Pump
	ghost *ghost
	now   pump.Time
	calls map[pump.Op]pump.Call
}

// play carries out one directive and returns the minutes of it.
func (s *script) play(d *datadriven.TestData) (string, error) {
	w := newWords(d)
	if d.Cmd == "pump" {
		return s.newPump(w)
	}
	if s.pump == nil {
		return "", errors.New("the first word must be pump")
	}
	if step, ok := strings.CutPrefix(d.Cmd, "+"); ok {
		by, err := time.ParseDuration(step)
		if err != nil || by < 0 {
			return "", fmt.Errorf("%q is no step, or goes back in time", d.Cmd)
		}
		return s.step(s.now.Add(by), "woken", pump.Woken{}, w.end())
	}
	now := s.now
	if at := w.duration("at"); at != 0 {
		now = pump.Time(at)
	}
	switch d.Cmd {
	case "at":
		now = pump.Time(w.time())
		return s.step(now, "woken", pump.Woken{}, w.end())
	case "run-until":
		return s.runUntil(pump.Time(w.time()), w.end())
	case "serve-until":
		until, latency := pump.Time(w.time()), w.duration("latency")
		return s.serveUntil(until, latency, w.end())
	}
	ev, heard := s.event(d.Cmd, w)
	return s.step(now, heard, ev, w.end())
}

func (s *script) newPump(w *words) (string, error) {
	s.cfg = config(w)
	worker := w.string("worker")
	if worker == "" {
		worker = "w1"
	}
	s.now = pump.Time(w.duration("at"))
	if err := w.end(); err != nil {
		return "", err
	}
	s.pump, s.ghost, s.calls = nil, nil, map[pump.Op]pump.Call{}
	if text := refusal(s.cfg); text != "" {
		return text, nil
	}
	s.pump = pump.New(s.cfg, worker, s.now)
	s.ghost = newGhost(s.cfg, s.now)
	return fmt.Sprintf("next %v\n", s.pump.Deadline()), nil
}

// refusal says why a configuration is not valid, or nothing.
func refusal(c pump.Config) string {
	if err := c.Validate(); err != nil {
		return err.Error() + "\n"
	}
	return ""
}

// step takes one step and prints it.
func (s *script) step(now pump.Time, heard string, ev pump.Event, err error) (string, error) {
	if err != nil {
		return "", err
	}
	acts, err := s.take(now, ev)
	return stepLines(s.now, heard, acts) + fmt.Sprintf("  next %v\n", s.pump.Deadline()), err
}

func (s *script) take(now pump.Time, ev pump.Event) ([]pump.Action, error) {
	if now < s.now {
		return nil, fmt.Errorf("%v is back in time, it is %v", now, s.now)
	}
	s.now = now
	acts := s.pump.Step(now, ev, nil)
	for _, a := range acts {
		if c, ok := a.(pump.Call); ok {
			s.calls[c.Op] = c
		}
	}
	if err := s.ghost.step(now, ev, acts, s.pump.Deadline()); err != nil {
		return acts, fmt.Errorf("a rule is broken: %w", err)
	}
	return acts, nil
}

// runUntil wakes the pump whenever it asks to be, and prints the steps in
// which it did something. Nobody answers its calls.
func (s *script) runUntil(until pump.Time, err error) (string, error) {
	var b strings.Builder
	for still := 0; err == nil && s.pump.Deadline() <= until; {
		at := max(s.now, s.pump.Deadline())
		if still++; at > s.now {
			still = 0
		}
		if still > 3 {
			return b.String(), fmt.Errorf("the pump stands still at %v", s.now)
		}
		var acts []pump.Action
		if acts, err = s.take(at, pump.Woken{}); len(acts) > 0 {
			b.WriteString(stepLines(s.now, "woken", acts))
		}
	}
	s.now = max(s.now, until)
	fmt.Fprintf(&b, "  next %v\n", s.pump.Deadline())
	return b.String(), err
}

// serveUntil lets a store that is well answer the calls sent from now on, and
// counts them. What was in flight before stays unanswered.
func (s *script) serveUntil(until pump.Time, latency time.Duration, err error) (string, error) {
	good := &goodStore{latency: latency}
	sum := &tally{}
	for err == nil {
		at := max(s.now, min(s.pump.Deadline(), good.next()))
		if at > until {
			break
		}
		var ev pump.Event = pump.Woken{}
		if good.next() <= at {
			ev = good.take()
		}
		var acts []pump.Action
		acts, err = s.take(at, ev)
		for _, a := range acts {
			sum.note(s.now, a)
			if c, ok := a.(pump.Call); ok {
				good.call(s.now, c)
			}
		}
	}
	s.now = max(s.now, until)
	return sum.String() + fmt.Sprintf("  next %v\n", s.pump.Deadline()), err
}
