package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// page reads a page and fails if it is none.
func page(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(b), "<!doctype html>") || !strings.HasSuffix(strings.TrimSpace(string(b)), "</html>") {
		t.Errorf("%s is no page", name)
	}
	return string(b)
}

// A scenario, its plan and its history each make a page, the same each time.
func TestTimelineDrawsWhatItIsGiven(t *testing.T) {
	dir := t.TempDir()
	file := func(name string) string { return filepath.Join(dir, name) }
	want(t, exitHeld, nil, "run", "zombie-returns", "--quiet", "--plan", file("p.yaml"), "--history", file("h.jsonl"))
	for _, c := range []struct {
		arg   string
		words []string
	}{
		{"zombie-returns", []string{`"repeat":"bwsim run zombie-returns --seed 1"`, "pause: n1"}},
		{file("p.yaml"), []string{"p.yaml", "pause: n1"}},
		{file("h.jsonl"), []string{`"repeat":"bwsim check `, "Recorded calls tell nothing"}},
	} {
		want(t, exitHeld, nil, "timeline", c.arg, "-o", file("1.html"))
		want(t, exitHeld, nil, "timeline", c.arg, "--output", file("2.html"))
		first := page(t, file("1.html"))
		if first != page(t, file("2.html")) {
			t.Errorf("%s: two pages of it differ", c.arg)
		}
		for _, w := range append(c.words, `"verdict":"held"`, `"x":"FENCED: the success of `) {
			if !strings.Contains(first, w) {
				t.Errorf("%s: the page does not hold %q", c.arg, w)
			}
		}
	}
}

// --html draws every run, or those that did not hold; the exit code stays.
func TestRunDrawsPages(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.yaml")
	text := "name: bad\nlevel: pristine\nfor: 10s\ngroups: [{name: default, queues: [q]}]\nnodes: [{name: n1}]\njobs: [{id: j1, queue: q}]\nexpect:\n  jobs: [{job: j1, state: cancelled}]\n"
	if err := os.WriteFile(bad, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	files := func(name string) (out []string) {
		list, err := os.ReadDir(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range list {
			out = append(out, f.Name())
		}
		return out
	}
	want(t, exitViolated, nil, "run", bad, "drain", "--seeds", "2", "--quiet", "--html", filepath.Join(dir, "all"))
	if got := strings.Join(files("all"), " "); got != "bad-1.html bad-2.html drain-1.html drain-2.html" {
		t.Errorf("the pages are %s", got)
	}
	want(t, exitViolated, nil, "run", bad, "drain", "--quiet", "--html", filepath.Join(dir, "some"), "--html-of", "violated")
	if got := strings.Join(files("some"), " "); got != "bad-1.html" {
		t.Errorf("the pages are %s", got)
	}
	if html := page(t, filepath.Join(dir, "some", "bad-1.html")); !strings.Contains(html, "j1 is succeeded, expected cancelled") {
		t.Error("the page does not say what is violated")
	}
}

func TestTimelineRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"timeline"},
		{"timeline", "drain", "zombie-returns"},
		{"timeline", "no-such"},
		{"timeline", "no-such.jsonl"},
		{"timeline", "drain", "-o", "-"},
		{"timeline", "drain", "--midway"},
		{"run", "drain", "--html", t.TempDir(), "--html-of", "some"},
	} {
		want(t, exitUsage, nil, args...)
	}
}
