package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestExploreTellsWhatItDid(t *testing.T) {
	want(t, exitHeld, []string{
		"2 nodes, 1 job, no faults, replies separate", "time moves in ticks of 20s", "held: all states were visited: ",
		"the odds that two had the same", "a job was given up at its ceiling",
	}, "explore", "--faults", "0")
	want(t, exitHeld, []string{`"preset":"cancel"`, `"verdict":"held"`}, "explore", "cancel", "--format", "json")
}

func TestExploreRefusesBadUsage(t *testing.T) {
	for _, c := range []struct {
		text string
		args []string
	}{
		{`there is no preset "two"`, []string{"two"}},
		{"--nodes: a preset, a checkpoint or the mutants choose the world themselves", []string{"fused", "--nodes", "3"}},
		{"nodes is 9, want 1 to 4", []string{"--nodes", "9"}},
		{`there is no fault "fire"`, []string{"--kinds", "crash,fire"}},
		{"--replies never: want separate or fused", []string{"--replies", "never"}},
		{"--max-memory 4: want a number of megabytes or gigabytes", []string{"--max-memory", "4"}},
		{"--format xml: want text or json", []string{"--format", "xml"}},
		{"--checkpoint holds one world; 2 were asked for", []string{"fused", "pool", "--checkpoint", "c"}},
		{"--only nobody: there is no such mutant", []string{"--mutants", "--only", "nobody"}},
	} {
		want(t, exitUsage, []string{c.text}, append([]string{"explore"}, c.args...)...)
	}
}

// A search that a limit stops is undecided; what it kept can be gone on with.
func TestExploreGoesOnFromACheckpoint(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.bwx")
	want(t, exitUndecided, []string{"UNDECIDED (deep enough)", "bwsim explore --resume"}, "explore", "refused", "--max-depth", "9", "--checkpoint", file)
	if _, err := os.Stat(file + ".part"); err == nil {
		t.Error("a part of the checkpoint was left behind")
	}
	want(t, exitHeld, []string{"refused: ", "held: all states were visited: "}, "explore", "--resume", file)
	if err := os.WriteFile(file, []byte("something else"), 0o600); err != nil {
		t.Fatal(err)
	}
	want(t, exitUsage, []string{"no checkpoint"}, "explore", "--resume", file)
}

// Ctrl-C ends with code 3, and says how far it was.
func TestExploreIsInterrupted(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var out, errs bytes.Buffer
	if code := bwsim(ctx, []string{"explore", "one-fault"}, &out, &errs); code != exitCannot || !strings.Contains(out.String(), "INTERRUPTED: 1 state,") {
		t.Errorf("exit code %d:\n%s%s", code, out.String(), errs.String())
	}
}

// A planted bug is found without a seed.
func TestExploreFindsPlantedBugs(t *testing.T) {
	code, out, errs := call("explore", "--mutants", "--only", "end-recorded-twice", "--only", "renew-from-old-expiry", "--at-least", "2", "--format", "json")
	if code != exitHeld {
		t.Fatalf("exit code %d:\n%s%s", code, out, errs)
	}
	for line := range strings.Lines(out) {
		var r caughtByExplore
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		if r.Mutant != "" && (r.Invariant == "" || r.Moves < 2 || r.World != "fused") {
			t.Errorf("%+v", r)
		}
	}
}
