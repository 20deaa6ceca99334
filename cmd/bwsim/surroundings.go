package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"time"

	"backwave/internal/mutant"
	"backwave/sim/mutants"
)

// bubbleTests is the package whose tests run what surrounds the shell.
const bubbleTests = "./sim/bubble"

// surrounded is what came of one bug in what surrounds the shell.
type surrounded struct {
	Mutant string `json:"mutant"`
	File   string `json:"file"`
	Func   string `json:"func"`
	Breaks string `json:"breaks"`
	Caught string `json:"caught_by"` // the test that failed, or hang; "" if none did
	Worlds int    `json:"worlds"`    // random plans that were played by then, that one included
	Found  string `json:"found"`     // the first of what did not hold

	err error // it could not be run
}

// runSurroundings judges the product first, and then each bug, by the tests of
// sim/bubble: what they run, no simulated world does.
func (f *mutantFlags) runSurroundings(ctx context.Context, s *screen) error {
	list, err := f.chooseSurroundings()
	if err != nil {
		return err
	}
	began := time.Now()
	binary, remove, err := plant(s, f.source, list, "the tests of "+bubbleTests, bubbleTests, mutant.BuildTest)
	if err != nil {
		return err
	}
	defer remove()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	t := &surroundings{s: s, flags: f}
	done := -1 // the product comes first
	for r := range inOrder(ctx, len(list)+1, f.jobs, func(_, i int) surrounded {
		m := mutant.Mutant{}
		if i > 0 {
			m = list[i-1]
		}
		return f.bubble(ctx, binary, m)
	}) {
		switch {
		case ctx.Err() != nil: // it was cut off
			continue
		case r.err != nil:
			err = r.err
			stop()
		case done < 0 && r.Caught != "":
			err = &exitError{exitViolated, fmt.Sprintf("the product itself does not hold, so nothing can be said of the bugs: %s: %s", r.Caught, r.Found)}
			stop()
		case done < 0:
			t.head(list)
		default:
			t.add(r)
		}
		done++
		s.flush()
		s.progress(fmt.Sprintf("%d of %s run, %.0f s", done, count(len(list), "planted bug"), time.Since(began).Seconds()))
	}
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return cannot("interrupted after %d of %s", max(0, done), count(len(list), "planted bug"))
	}
	return t.conclude()
}

// chooseSurroundings returns the mutants to be run.
func (f *mutantFlags) chooseSurroundings() ([]mutant.Mutant, error) {
	if f.format != "text" && f.format != "json" {
		return nil, usage("--format %s: with --surroundings want text or json", f.format)
	}
	if f.shrink || f.faults {
		return nil, usage("--surroundings plants other bugs than --shrink and --faults do: leave one out")
	}
	if f.seeds < 1 || f.jobs < 1 {
		return nil, usage("--seeds %d --jobs %d: want at least 1", f.seeds, f.jobs)
	}
	return named(mutants.Surroundings(), f.only, "there is no such mutant of the surroundings; see sim/mutants/surroundings.go")
}

// bubble runs the tests with one bug, until one of them fails or the last one
// has passed. The tests run one after another: those before the first failure
// are then the same however many processors there are.
func (f *mutantFlags) bubble(ctx context.Context, binary string, m mutant.Mutant) surrounded {
	r := surrounded{Mutant: m.Name, File: m.File, Func: m.Func, Breaks: m.Breaks}
	limited, stop := context.WithTimeout(ctx, f.limit)
	defer stop()
	p, err := start(limited, binary, m.Name, "-test.v", "-test.failfast", "-test.parallel", "1", "-worlds", strconv.Itoa(f.seeds))
	if err != nil {
		r.err = err
		return r
	}
	w := testWatch{}
	err = w.follow(p.out)
	if w.found != "" {
		stop() // nothing more is asked of it
	}
	err = errors.Join(err, p.Wait())
	r.Worlds = w.worlds
	switch {
	case w.found != "":
		r.Caught, r.Found = w.test, w.found
	case err == nil, ctx.Err() != nil:
	case limited.Err() != nil:
		r.Caught, r.Found = hang, fmt.Sprintf("%s still runs after %v", w.test, f.limit)
	case w.test == "": // it did not even begin
		r.err = cannot("mutant %s cannot be run: %v: %s", m.Name, err, strings.TrimSpace(p.said.String()))
	default:
		r.Caught, r.Found = w.test, cmp.Or(panicIn(p.said.String()), panicIn(w.rest.String()), err.Error())
	}
	return r
}

// testWatch reads what the binary of a test prints under -test.v. Only at the
// end does it say which tests have failed, but what a test complains of it
// prints at once, and subtests of sim/bubble print nothing else.
type testWatch struct {
	test   string // that runs, or failed first
	worlds int    // random plans that were begun
	said   string // by the test that runs
	found  string // by the one that failed first
	rest   bytes.Buffer
}

var (
	testRuns  = regexp.MustCompile(`^=== (?:RUN|CONT|NAME) +(\S+)$`)
	testFails = regexp.MustCompile(`^--- FAIL: (\S+) \(`)
	testSays  = regexp.MustCompile(`^ +\w+_test\.go:\d+: +(.*)$`)
	panicLine = regexp.MustCompile(`(?m)^(?:panic|fatal error): .*$`)
)

// randomPlan is what the line begins with that tells of a random plan.
const randomPlan = "=== CONT  TestWorlds/seed/"

// follow reads until a test has complained.
func (w *testWatch) follow(out io.Reader) error {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasPrefix(line, randomPlan) {
			w.worlds++
		}
		if m := testRuns.FindStringSubmatch(line); m != nil {
			w.test, w.said = m[1], ""
		} else if m := testFails.FindStringSubmatch(line); m != nil && w.said != "" {
			w.test, w.found = m[1], w.said
		} else if m := testSays.FindStringSubmatch(line); m != nil {
			if w.said = m[1]; strings.HasSuffix(line, "does not hold:") && lines.Scan() {
				w.said = strings.TrimSpace(lines.Text())
			}
			if strings.Contains(w.test, "/") {
				w.found = w.said
			}
		} else {
			w.rest.WriteString(line + "\n")
		}
		if w.found != "" {
			return nil
		}
	}
	return lines.Err()
}

func panicIn(text string) string { return panicLine.FindString(text) }

// surroundings prints what came of all bugs, and sums it up.
type surroundings struct {
	s         *screen
	flags     *mutantFlags
	width     int
	bugs      int
	survivors int
}

func (t *surroundings) head(list []mutant.Mutant) {
	t.width = len("mutant")
	for _, m := range list {
		t.width = max(t.width, len(m.Name))
	}
	if t.flags.format == "text" {
		t.s.printf("%-*s  worlds  caught by\n", t.width, "mutant")
	}
}

func (t *surroundings) add(r surrounded) {
	t.bugs++
	if r.Caught == "" {
		t.survivors++
	}
	if t.flags.format == "json" {
		t.s.json(r)
		return
	}
	by := r.Caught + ": " + r.Found
	if r.Caught == "" {
		by = t.s.paint(red, "SURVIVED") + " (" + r.File + ", " + r.Func + "): " + r.Breaks
	}
	t.s.printf("%s  %6d  %s\n", t.s.paint(bold, fmt.Sprintf("%-*s", t.width, r.Mutant)), r.Worlds, by)
}

// conclude fails if a bug survived.
func (t *surroundings) conclude() error {
	if t.flags.format == "json" {
		t.s.json(map[string]any{"summary": true, "mutants": t.bugs, "caught": t.bugs - t.survivors})
	} else {
		t.s.printf("\n%d of %s caught\n", t.bugs-t.survivors, count(t.bugs, "planted bug"))
	}
	if t.survivors > 0 {
		return verdict(exitViolated)
	}
	return nil
}
