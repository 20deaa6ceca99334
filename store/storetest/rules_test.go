package storetest

import (
	"os"
	"regexp"
	"slices"
	"testing"
)

// sections are those of docs/semantics.md that bind a store.
const sections = "ATSECLRWOX"

// TestRulesAreThoseOfTheDocument keeps the numbers of document and suite equal.
func TestRulesAreThoseOfTheDocument(t *testing.T) {
	text, err := os.ReadFile("../../docs/semantics.md")
	if err != nil {
		t.Fatal(err)
	}
	var written []string
	for _, m := range regexp.MustCompile(`(?m)^### ([`+sections+`]\d+)$`).FindAllStringSubmatch(string(text), -1) {
		if slices.Contains(written, m[1]) {
			t.Errorf("docs/semantics.md has two rules %s", m[1])
		}
		written = append(written, m[1])
	}
	var proved, told []string
	for _, r := range Rules() {
		if !slices.Contains(proved, r.ID) {
			proved = append(proved, r.ID)
		}
		if full := r.ID + " " + r.Sentence; slices.Contains(told, full) {
			t.Errorf("two cases are called %s", full)
		} else {
			told = append(told, full)
		}
	}
	for _, id := range written {
		if !slices.Contains(proved, id) {
			t.Errorf("no case proves %s", id)
		}
	}
	for _, id := range proved {
		if !slices.Contains(written, id) {
			t.Errorf("docs/semantics.md has no rule %s", id)
		}
	}
	if len(written) == 0 {
		t.Error("docs/semantics.md has no rule at all")
	}
}
