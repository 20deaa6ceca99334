package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// workflow is as much of a workflow of GitHub Actions as the test needs.
type workflow struct {
	Jobs map[string]struct {
		Steps []struct{ Run string }
	}
}

// TestCIExample runs the commands of the example in docs/ci.md, with a few seeds
// in place of minutes.
func TestCIExample(t *testing.T) {
	text, err := os.ReadFile("../../docs/ci.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(text)
	var w workflow
	if err := yaml.Unmarshal(block[1], &w); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	known := filepath.Join(dir, "known")
	if err := os.WriteFile(known, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	swap := strings.NewReplacer(
		`"$GITHUB_RUN_ID"`, "7", `"$GITHUB_STEP_SUMMARY"`, filepath.Join(dir, "summary.md"), "${{ matrix.shard }}", "2", ".bwsim-known", known,
		"swarm.xml", filepath.Join(dir, "swarm.xml"), "--out findings", "--out "+dir, "--for 2m --must", "--seeds 3", "--for 1h", "--seeds 3")
	t.Chdir("../..")
	var ran []string
	for _, job := range w.Jobs {
		for _, step := range job.Steps {
			args, ok := strings.CutPrefix(step.Run, "./bwsim ")
			if !ok {
				continue
			}
			var words []string
			for _, word := range strings.Fields(swap.Replace(args)) {
				if files, err := filepath.Glob(word); err == nil && strings.Contains(word, "*") {
					words = append(words, files...)
					continue
				}
				words = append(words, word)
			}
			if code, stdout, stderr := call(words...); code != exitHeld {
				t.Errorf("%s\nexit code %d\n%s%s", step.Run, code, stdout, stderr)
			}
			ran = append(ran, words[0])
		}
	}
	slices.Sort(ran)
	if want := []string{"lint", "run", "swarm", "swarm"}; !slices.Equal(ran, want) {
		t.Errorf("ran %q, want %q", ran, want)
	}
	for _, name := range []string{"summary.md", "swarm.xml"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s was not written: %v", name, err)
		}
	}
}
