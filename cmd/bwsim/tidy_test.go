package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func written(t *testing.T, name, text string) string {
	t.Helper()
	name = filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestFmt(t *testing.T) {
	text, err := os.ReadFile("testdata/lapse.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := written(t, "x.yaml", strings.Replace(string(text), "for: ", "for:    ", 1))
	if code, stdout, _ := call("fmt", "--check", file); code != exitViolated || stdout != file+"\n" {
		t.Errorf("--check: exit code %d, %q, want 1 and the name", code, stdout)
	}
	if code, stdout, _ := call("fmt", file); code != exitHeld || stdout != file+"\n" {
		t.Errorf("exit code %d, %q, want 0 and the name", code, stdout)
	}
	if code, stdout, _ := call("fmt", "--check", file); code != exitHeld || stdout != "" {
		t.Errorf("--check after fmt: exit code %d, %q", code, stdout)
	}
	_, one, _ := call("run", "testdata/lapse.yaml", "--quiet")
	_, two, _ := call("run", file, "--quiet")
	if one != two {
		t.Errorf("another run than before:\n%s\n%s", one, two)
	}
	if code, _, stderr := call("fmt", "testdata/bad.yaml"); code != exitUsage || !strings.Contains(stderr, "bad.yaml:") {
		t.Errorf("a bad file: exit code %d, %q", code, stderr)
	}
}

func TestLintCommand(t *testing.T) {
	file := written(t, "x.yaml", "name: x\nlevel: adversarial\nfor: 5s\ngroups:\n  - {name: g, queues: a}\n  - {name: h, queues: b}\nnodes:\n  - {name: n1, groups: g}\njobs:\n  - {id: j1, queue: b}\n")
	code, stdout, _ := call("lint", file)
	if want := file + ":5: no job is in a queue that group g serves\n" + file + ":6: no node runs group h\n" + file + ":10: job j1 is in queue b, which no node serves\n"; code != exitViolated || stdout != want {
		t.Errorf("exit code %d, got\n%swant\n%s", code, stdout, want)
	}
	_, stdout, _ = call("lint", file, "--format", "github")
	if !strings.Contains(stdout, "::warning file="+property(filepath.ToSlash(file))+",line=10,title=bwsim lint::job j1") {
		t.Errorf("no annotation of line 10:\n%s", stdout)
	}
	if code, stdout, _ := call("lint", "testdata/lapse.yaml"); code != exitHeld || stdout != "" {
		t.Errorf("exit code %d: %s", code, stdout)
	}
}

func TestDiff(t *testing.T) {
	dir := t.TempDir()
	a, b, c := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	call("run", "testdata/lapse.yaml", "--quiet", "--trace", a)
	call("run", "testdata/lapse.yaml", "--quiet", "--trace", b)
	call("run", "testdata/lapse.yaml", "--quiet", "--trace", c, "--seed", "2")
	if code, stdout, _ := call("diff", a, b); code != exitHeld || !strings.HasPrefix(stdout, "the same: ") {
		t.Errorf("exit code %d, %s", code, stdout)
	}
	code, stdout, _ := call("diff", a, c, "--context", "2")
	if code != exitViolated || strings.Count(stdout, "\n- ") != 3 || strings.Count(stdout, "\n+ ") != 3 {
		t.Errorf("exit code %d, want three lines of each:\n%s", code, stdout)
	}
	if code, _, _ := call("diff", a); code != exitUsage {
		t.Errorf("one trace: exit code %d", code)
	}
	if code, _, _ := call("diff", a, filepath.Join(dir, "none")); code != exitUsage {
		t.Errorf("no such trace: exit code %d", code)
	}
}
