package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// engineRule is the heading of a rule that binds the engine. Those of the
// stores are held against the conformance suite by package storetest.
var engineRule = regexp.MustCompile(`^### ([PHFD]\d+)$`)

var testName = regexp.MustCompile("`(Test[A-Za-z0-9]+)`")

// TestEveryEngineRuleIsShown fails for a rule of the engine that names neither
// a trace nor a test, and for a test named anywhere in docs that is not there.
// That the traces named are there is the business of package pump.
func TestEveryEngineRuleIsShown(t *testing.T) {
	text, err := os.ReadFile("../../docs/semantics.md")
	if err != nil {
		t.Fatal(err)
	}
	rule, shown, rules := "", true, 0
	for _, line := range append(strings.Split(string(text), "\n"), "## end") {
		if strings.HasPrefix(line, "#") {
			if !shown {
				t.Errorf("docs/semantics.md: rule %s does not say by what it is shown", rule)
			}
			shown = true
			if m := engineRule.FindStringSubmatch(line); m != nil {
				rule, shown, rules = m[1], false, rules+1
			}
		}
		if strings.HasPrefix(line, "Shown by:") && strings.Contains(line, "`") {
			shown = true
		}
	}
	if rules < 40 {
		t.Errorf("docs/semantics.md has %d rules of the engine, want the 43 that there were", rules)
	}
	tests := testsOfModule(t)
	docs, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range docs {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range testName.FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(tests, "func "+m[1]+"(") {
				t.Errorf("%s names %s, and there is no such test", filepath.Base(name), m[1])
			}
		}
	}
}

// testsOfModule returns the text of all test files.
func testsOfModule(t *testing.T) string {
	var all strings.Builder
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
