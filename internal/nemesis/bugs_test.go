//go:build unix

package nemesis

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"backwave/internal/mutant"
)

// A bug whose text is not in the store any more would change nothing, and be
// called a survivor.
func TestBugsCanBePlanted(t *testing.T) {
	const root = "../.."
	var ms []mutant.Mutant
	for _, b := range Bugs() {
		ms = append(ms, b.Mutant)
	}
	if err := mutant.Check(root, ms); err != nil {
		t.Error(err)
	}
	var all strings.Builder
	for _, pattern := range []string{"*.go", "migrations/*.sql"} {
		files, err := filepath.Glob(filepath.Join(root, postgresDir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range files {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
	}
	for _, b := range Bugs() {
		for _, c := range b.sql {
			if !strings.Contains(all.String(), c.old) {
				t.Errorf("%s: no statement has the text %q", b.Name, c.old)
			}
		}
		for _, k := range b.Faults {
			if !slices.Contains(Kinds(), Kind(k)) {
				t.Errorf("%s: there is no fault %q", b.Name, k)
			}
		}
	}
}
