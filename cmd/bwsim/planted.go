package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"slices"

	"backwave/internal/mutant"
)

// buildPlanted builds a bwsim that can have any bug of the list, from the tree
// that source names, into a folder that remove takes away.
func buildPlanted(s *screen, source string, list []mutant.Mutant) (binary string, remove func(), err error) {
	return plant(s, source, list, "bwsim", "./cmd/bwsim", mutant.Build)
}

// plant is buildPlanted for any package, which people call what.
func plant(s *screen, source string, list []mutant.Mutant, what, pkg string, build func(root, outDir string, list []mutant.Mutant, pkg string) (string, error)) (binary string, remove func(), err error) {
	root, err := sourceTree(source)
	if err != nil {
		return "", nil, err
	}
	if _, err := exec.LookPath("go"); err != nil {
		return "", nil, cannot("mutants are built with the go tool, and it is not in the PATH: %v", err)
	}
	dir, err := os.MkdirTemp("", "bwsim-mutants-")
	if err != nil {
		return "", nil, cannot("%v", err)
	}
	remove = func() { _ = os.RemoveAll(dir) } // what is left of it is temporary
	s.note("building %s with %s", what, count(len(list), "planted bug"))
	if binary, err = build(root, dir, list, pkg); err != nil {
		remove()
		return "", nil, cannot("%v", err)
	}
	return binary, remove, nil
}

// named returns those of all that --only names, all of them if it names none.
func named(all []mutant.Mutant, only []string, missing string) (out []mutant.Mutant, err error) {
	if len(only) == 0 {
		return all, nil
	}
	for _, name := range only {
		i := slices.IndexFunc(all, func(m mutant.Mutant) bool { return m.Name == name })
		if i < 0 {
			return nil, usage("--only %s: %s", name, missing)
		}
		out = append(out, all[i])
	}
	return out, nil
}

// planted is a process that has one of the bugs.
type planted struct {
	*exec.Cmd
	out  io.Reader    // its standard output
	said bytes.Buffer // its standard error, once it has ended
}

// start starts a binary of plant with one bug, "" for none.
func start(ctx context.Context, binary, bug string, args ...string) (*planted, error) {
	p := &planted{Cmd: exec.CommandContext(ctx, binary, args...)}
	p.Env = append(os.Environ(), mutant.Variable+"="+bug)
	p.Stderr = &p.said
	out, err := p.StdoutPipe()
	if err == nil {
		err = p.Start()
	}
	if err != nil {
		return nil, cannot("mutant %s cannot be run: %v", bug, err)
	}
	p.out = out
	return p, nil
}
