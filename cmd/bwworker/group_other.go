//go:build !unix

package main

import (
	"os"
	"os/exec"
)

const (
	canInherit   = false
	canLimit     = false
	sideVariable = "BW_FD="
)

// Without process groups only the command itself can be ended, and only by
// killing it.

func ownGroup(*exec.Cmd) {}

func stopGroup(cmd *exec.Cmd) { killPid(cmd.Process.Pid) }

func killGroup(cmd *exec.Cmd) { killPid(cmd.Process.Pid) }

func killPid(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		_ = p.Kill()
	}
}

// underLimits is never called: limits are refused as a mistake.
func underLimits(_ limits, argv []string) []string { return argv }
