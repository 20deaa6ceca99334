// Package mutant plants bugs in a program without a hook in its source. A
// Mutant is a value: which text of which function is replaced by what. Build,
// or BuildTest, compiles all of them into one binary; the environment of a run
// decides which one is active.
//
// How it is done: for every function that has mutants, an overlay (see go help
// build, -overlay) keeps the function under another name and adds one copy of
// it per mutant, with the text replaced, and a function of the original name
// that calls the copy of the active mutant. A copy is compiled in the place of
// the original, so any edit of the body that compiles there will do.
package mutant

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Variable is the environment variable that holds the name of the active
// mutant. Unset or empty, a binary made here behaves as the original; with
// a name it does not know, it exits at once with code 3.
const Variable = "BACKWAVE_MUTANT"

// Mutant is one planted bug.
type Mutant struct {
	Name   string // short and unique, such as "fence-without-claim-number"
	File   string // relative to the root of the module, with slashes
	Func   string // "Name", "Recv.Name" or "(*Recv).Name"
	Old    string // must occur exactly once in the function's body; any white space equals any other
	New    string // what stands there instead; may be empty
	Breaks string // the promise that the bug breaks, for people
}

// Check reports whether every mutant can be planted in the module at root: its
// function is there, its old text occurs in it exactly once, and what comes out
// is Go syntax. It does not compile anything. The error lists every mutant at
// fault.
func Check(root string, ms []Mutant) error {
	_, err := plant(root, ms)
	return err
}

// Build compiles the main package pkg (such as "./cmd/bwsim") of the module at
// root with all mutants in it and returns the path of the binary, which lies in
// outDir, as all other files made here do. A mutant that cannot be planted, or
// whose copy does not compile, is named by the error.
func Build(root, outDir string, ms []Mutant, pkg string) (binary string, err error) {
	return compile(root, outDir, ms, pkg, "build")
}

// BuildTest does the same for the binary of the tests of package pkg.
func BuildTest(root, outDir string, ms []Mutant, pkg string) (binary string, err error) {
	return compile(root, outDir, ms, pkg, "test", "-c")
}

func compile(root, outDir string, ms []Mutant, pkg string, command ...string) (binary string, err error) {
	if root, err = filepath.Abs(root); err != nil {
		return "", fmt.Errorf("mutant: %w", err)
	}
	if outDir, err = filepath.Abs(outDir); err != nil {
		return "", fmt.Errorf("mutant: %w", err)
	}
	files, err := plant(root, ms)
	if err != nil {
		return "", err
	}
	overlay, err := writeOverlay(root, outDir, files, ms)
	if err != nil {
		return "", fmt.Errorf("mutant: write the overlay: %w", err)
	}
	binary = filepath.Join(outDir, "bin")
	cmd := exec.Command("go", append(command, "-overlay", overlay, "-o", binary, pkg)...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", cmp.Or(blame(root, files, string(out)), fmt.Errorf("mutant: go %s %s: %w\n%s", command[0], pkg, err, out))
	}
	return binary, nil
}

// writeOverlay writes the changed files below outDir, and returns the name of
// the JSON file that tells the go command of them.
func writeOverlay(root, outDir string, files []*source, ms []Mutant) (name string, err error) {
	if err := os.MkdirAll(outDir, 0o755); err != nil {
		return "", err
	}
	replace := map[string]string{}
	put := func(path string, text []byte) (to string, err error) {
		to = filepath.Join(outDir, fmt.Sprintf("overlay%d.go", len(replace)))
		replace[path] = to
		return to, os.WriteFile(to, text, 0o644)
	}
	for _, f := range files {
		path := filepath.Join(root, filepath.FromSlash(f.name))
		if f.written, err = put(path, f.mutated); err != nil {
			return "", err
		}
		selector := filepath.Join(filepath.Dir(path), selectorFile)
		if _, ok := replace[selector]; ok {
			continue
		}
		if _, err := os.Stat(selector); !errors.Is(err, os.ErrNotExist) {
			return "", fmt.Errorf("%s is in the way", selector)
		}
		if _, err := put(selector, selectorText(f.pkg, ms)); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	name = filepath.Join(outDir, "overlay.json")
	return name, os.WriteFile(name, text, 0o644)
}
