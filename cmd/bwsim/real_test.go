//go:build unix

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A short run on SQLite, told in both formats, and what it leaves behind.
func TestRealRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	code, stdout, stderr := call("real", "--store", "sqlite", "--for", "1s", "--jobs", "20", "--workers", "2", "--faults", "kill,hold-lock", "--pace", "300ms", "--out", dir, "--format", "json")
	var got jsonReal
	if err := json.Unmarshal([]byte(stdout), &got); code != exitHeld || err != nil {
		t.Fatalf("exit code %d, %v\n%s%s", code, err, stdout, stderr)
	}
	if got.Verdict != "held" || got.Jobs == 0 || got.TxWrites != got.TxJobs || got.Ends["success"] < got.Acknowledged || got.LinearJobs == 0 || got.Faults["kill"] == 0 || got.Faults["freeze"] > 0 || got.Dir != dir {
		t.Errorf("got %+v", got)
	}
	page, err := os.ReadFile(got.Page)
	if err != nil || !strings.Contains(string(page), "n2: kill for") && !strings.Contains(string(page), "n1: kill for") {
		t.Errorf("the page does not tell who was killed: %v", err)
	}
	histories, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if len(histories) < 3 {
		t.Fatalf("there are %d histories, want those of two workers and the client", len(histories))
	}
	if code, stdout, stderr := call(append([]string{"check"}, histories...)...); code != exitHeld {
		t.Errorf("check: exit code %d\n%s%s", code, stdout, stderr)
	}
	if code, _, stderr := call("real", "--out", dir); code != exitUsage || !strings.Contains(stderr, "there are histories in it already") {
		t.Errorf("a folder that is in use: exit code %d, %s", code, stderr)
	}
}

func TestRealText(t *testing.T) {
	code, stdout, stderr := call("real", "--store", "sqlite", "--for", "1s", "--jobs", "5", "--workers", "1", "--faults", "freeze", "--seed", "7")
	for _, want := range []string{"what was done in 1s\n", "held      transaction", "\nHELD  bwsim real --store sqlite --for 1s --workers 1 --seed 7 --pace 2s --jobs 5 --faults freeze\n"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("%q is not in\n%s%s", want, stdout, stderr)
		}
	}
	if code != exitHeld || strings.Contains(stdout, "\nfiles: ") {
		t.Errorf("exit code %d, and nobody asked for files:\n%s", code, stdout)
	}
}

func TestRealUsage(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--store papyrus", `store is "papyrus", want postgres or sqlite`},
		{"--faults flood", "--faults flood: want kill, freeze"},
		{"--format xml", "--format xml: want text or json"},
		{"--min-decided 101", "--min-decided 101: want 0 to 100"},
		{"--only x", "--only is for --mutants"},
		{"--mutants --only x", "--only x: want report-without-fence, "},
		{"--mutants --store sqlite", "--mutants goes with"},
		{"--for 1ms", "trouble lasts 1ms, want at least 1s"},
		{"--store sqlite --faults crash", "no server meets fault crash on sqlite"},
	} {
		code, stdout, stderr := call(slices.Concat([]string{"real"}, strings.Fields(c.args))...)
		if code != exitUsage || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: exit code %d\n%s%s", c.args, code, stdout, stderr)
		}
	}
}
