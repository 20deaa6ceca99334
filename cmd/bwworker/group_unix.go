//go:build unix

package main

import (
	"os/exec"
	"syscall"
)

// ownGroup makes cmd the leader of a process group of its own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// stopGroup asks all of cmd's group to stop.
func stopGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// killGroup ends all of cmd's group.
func killGroup(cmd *exec.Cmd) { killPid(cmd.Process.Pid) }

func killPid(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }
