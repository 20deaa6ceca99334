package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// nodeKit is the folder of the drivers that run on Node.js, and what runs them.
type nodeKit struct {
	dir     string
	program string            // the interpreter; absolute
	pinned  map[string]string // versions of the packages
}

// prepare installs what the lock file names, unless it is there already, and
// finds the interpreter: the one that is installed with the packages, since
// they need a newer one than many machines have.
func (n *nodeKit) prepare(ctx context.Context) error {
	lock, err := os.ReadFile(filepath.Join(n.dir, "package-lock.json"))
	if err != nil {
		return fmt.Errorf("no drivers of Node.js: run bench in its folder, or name theirs with --node-dir: %w", err)
	}
	stamp := filepath.Join(n.dir, "node_modules", ".backwave-lock")
	if have, err := os.ReadFile(stamp); err != nil || string(have) != string(lock) {
		if err := n.install(ctx); err != nil {
			return err
		}
		if err := os.WriteFile(stamp, lock, 0o644); err != nil {
			return err
		}
	}
	if err := n.readVersions(); err != nil {
		return err
	}
	return n.findProgram(ctx)
}

func (n *nodeKit) install(ctx context.Context) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return fmt.Errorf("npm is not installed: %w", err)
	}
	fmt.Fprintln(os.Stderr, "npm ci in", n.dir)
	c := exec.CommandContext(ctx, npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	c.Dir = n.dir
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w\n%s", err, out)
	}
	return nil
}

func (n *nodeKit) readVersions() error {
	b, err := os.ReadFile(filepath.Join(n.dir, "package.json"))
	if err != nil {
		return err
	}
	var p struct{ Dependencies map[string]string }
	if err := json.Unmarshal(b, &p); err != nil {
		return fmt.Errorf("package.json: %w", err)
	}
	n.pinned = p.Dependencies
	return nil
}

func (n *nodeKit) findProgram(ctx context.Context) error {
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	program, err := filepath.Abs(filepath.Join(n.dir, "node_modules", "node-linux-"+arch, "bin", "node"))
	if err != nil {
		return err
	}
	if _, err := os.Stat(program); err != nil {
		if program, err = exec.LookPath("node"); err != nil {
			return fmt.Errorf("there is no Node.js for %s: %w", runtime.GOARCH, err)
		}
	}
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return fmt.Errorf("%s does not run: %w", program, err)
	}
	n.program, n.pinned["node"] = program, strings.TrimSpace(string(out))
	return nil
}
