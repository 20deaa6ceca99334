package simtest

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"backwave/sim"
)

// Check searches for a timeline of faults that violates an invariant. It plays
// sc as it is; then, up to 100 times, with one thing wrong with one call of a
// handler, or with one node or the store in the midst of work; then timelines of
// a few faults each that rapid draws, as many as -rapid.checks says, 100 by
// default. All faults come beside those of sc. The
// first timeline that violates something is shrunk, by the same invariant, and
// fails the test with its story and its plan. What rapid finds it saves under
// testdata/rapid/, from where it is tried first the next time; see Run for plans.
func Check(t testing.TB, sc Scenario) {
	t.Helper()
	s := ready(t, sc)
	if replayed(t, s) {
		return
	}
	if f := s.search(t); f != nil {
		fail(t, f)
	}
}

// Find is Check for tests that want to see a handler fail: it returns the
// failure, or nil, and saves nothing.
func Find(t testing.TB, sc Scenario) *Failure {
	t.Helper()
	f := ready(t, sc).search(t)
	if f != nil {
		forget(f.rapid)
	}
	return f
}

// Fuzz is Check for go test -fuzz, and for the inputs that it has kept. It calls
// f.Fuzz, so it comes last in its test.
func Fuzz(f *testing.F, sc Scenario) {
	f.Helper()
	s := ready(f, sc)
	if replayed(f, s) {
		f.Skipf("%s is set: nothing else is played", planVariable)
	}
	s.scout()
	fuzzing := false
	if on := flag.Lookup("test.fuzz"); on != nil {
		fuzzing = on.Value.String() != ""
	}
	for i := range uint64(fuzzSeeds) {
		f.Add(noise(i))
	}
	p := &search{set: s}
	f.Fuzz(func(t *testing.T, input []byte) {
		if !fuzzing { // each input is judged by itself
			p = &search{set: s}
		}
		defer func() {
			if p.found != nil && t.Failed() {
				p.set.tell(p.found, p.faults)
				t.Log(report(t, p.found))
			}
		}()
		rapid.MakeFuzz(p.try)(t, input)
	})
}

// fuzzSeeds is how many timelines a fuzz test plays without -fuzz.
const fuzzSeeds = 20

// noise returns bytes for rapid to draw a timeline from: a splitmix64 stream.
func noise(seed uint64) (b []byte) {
	for range 256 {
		seed += 0x9e3779b97f4a7c15
		x := seed
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		b = binary.LittleEndian.AppendUint64(b, x^x>>31)
	}
	return b
}

// search is one search for a failure.
type search struct {
	set    *setting
	pin    string // invariant of the first failure: no other counts while it is shrunk
	tried  int    // timelines until then
	found  *Failure
	faults []sim.Fault
}

// search returns what rapid finds; nil if nothing.
func (s *setting) search(t testing.TB) *Failure {
	t.Helper()
	if f := s.judge(nil, true); f != nil {
		s.tell(f, nil)
		return f
	}
	s.scout()
	p := &search{set: s}
	for _, f := range s.singles() {
		p.tried++
		if f := p.judge([]sim.Fault{f}); f != nil {
			s.tell(f, p.faults)
			f.Tried = p.tried
			return f
		}
	}
	said := ask(t, p.try)
	if p.found == nil {
		if said != "" {
			t.Fatalf("simtest: %s", said)
		}
		return nil
	}
	s.tell(p.found, p.faults)
	p.found.Tried = p.tried
	if m := failFile.FindStringSubmatch(said); m != nil {
		p.found.rapid = m[1]
	}
	return p.found
}

// try plays one timeline, as rapid draws it. Rapid takes any failure for as good
// as another, so while it shrinks only the invariant counts that the first one
// violated.
func (p *search) try(t *rapid.T) {
	if p.pin == "" {
		p.tried++
	}
	if f := p.judge(p.set.draw(t)); f != nil {
		t.Fatalf("%s: %s", f.Invariant, f.Message)
	}
}

// judge plays a timeline, and keeps what is wrong with it.
func (p *search) judge(faults []sim.Fault) *Failure {
	f := p.set.judge(faults, p.pin == "" || p.pin == deterministic)
	if f == nil || p.pin != "" && f.Invariant != p.pin {
		return nil
	}
	p.pin = f.Invariant
	p.found, p.faults = f, faults
	return f
}

// ask runs a check of rapid's, and returns what it says of a failure; "" if
// there is none. It fails nothing.
func ask(t testing.TB, try func(*rapid.T)) string {
	r := &listener{name: t.Name()}
	done := make(chan any, 1)
	go func() { // rapid ends the goroutine of a test that fails
		defer func() { done <- recover() }()
		rapid.Check(r, try)
	}()
	if v := <-done; v != nil {
		panic(v)
	}
	return strings.Join(r.errors, "\n")
}

// listener is a test for rapid to fail.
type listener struct {
	name   string
	failed bool
	errors []string
}

var _ rapid.TB = (*listener)(nil)

// Helper implements rapid.TB, as all that follow.
func (l *listener) Helper() {}

// Name is the name of the real test.
func (l *listener) Name() string { return l.name }

// Logf says nothing.
func (l *listener) Logf(string, ...any) {}

// Log says nothing.
func (l *listener) Log(...any) {}

// Skipf ends the check.
func (l *listener) Skipf(string, ...any) { l.SkipNow() }

// Skip ends the check.
func (l *listener) Skip(...any) { l.SkipNow() }

// SkipNow ends the check.
func (l *listener) SkipNow() { runtime.Goexit() }

// Errorf keeps the first line.
func (l *listener) Errorf(format string, args ...any) { l.Error(fmt.Sprintf(format, args...)) }

// Error keeps the text.
func (l *listener) Error(args ...any) {
	l.failed = true
	l.errors = append(l.errors, fmt.Sprint(args...))
}

// Fatalf ends the check.
func (l *listener) Fatalf(format string, args ...any) {
	l.Errorf(format, args...)
	l.FailNow()
}

// Fatal ends the check.
func (l *listener) Fatal(args ...any) {
	l.Error(args...)
	l.FailNow()
}

// FailNow ends the check.
func (l *listener) FailNow() {
	l.failed = true
	runtime.Goexit()
}

// Fail marks the check.
func (l *listener) Fail() { l.failed = true }

// Failed tells.
func (l *listener) Failed() bool { return l.failed }

var failFile = regexp.MustCompile(`-rapid\.failfile="([^"]+)"`)

// forget removes the file in which rapid has saved a failure, and its folder if
// that is empty then.
func forget(file string) {
	for dir := file; dir != "" && dir != "."; dir = filepath.Dir(dir) {
		if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
			return
		}
	}
}
