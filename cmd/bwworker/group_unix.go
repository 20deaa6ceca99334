//go:build unix

package main

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

const (
	canInherit   = true
	canLimit     = true
	sideVariable = "BW_FD=3" // the first file after the standard three
)

// ownGroup makes cmd the leader of a process group of its own.
func ownGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// stopGroup asks all of cmd's group to stop.
func stopGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }

// killGroup ends all of cmd's group.
func killGroup(cmd *exec.Cmd) { killPid(cmd.Process.Pid) }

func killPid(pid int) { _ = syscall.Kill(-pid, syscall.SIGKILL) }

// underLimits returns a command that sets limits for itself and then becomes
// argv. Limits set from outside would come after its first instructions.
func underLimits(l limits, argv []string) []string {
	var set []string
	if l.cpu > 0 { // SIGXCPU, whose name tells what happened, a second before SIGKILL
		s := int(l.cpu / time.Second)
		set = append(set, fmt.Sprintf("ulimit -S -t %d && ulimit -H -t %d", s, s+1))
	}
	if l.memory > 0 {
		set = append(set, fmt.Sprintf("ulimit -v %d", max(1, l.memory>>10)))
	}
	if l.files > 0 {
		set = append(set, fmt.Sprintf("ulimit -n %d", l.files))
	}
	path, err := exec.LookPath(argv[0])
	if err != nil {
		path = argv[0] // the shell will say what is wrong with it
	}
	script := strings.Join(set, " && ") + ` && exec "$@"`
	return append([]string{"/bin/sh", "-c", script, "sh", path}, argv[1:]...)
}
