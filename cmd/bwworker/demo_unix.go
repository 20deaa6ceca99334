//go:build unix

package main

import (
	"os"
	"syscall"
)

const canFreeze = true

func freeze(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }
func thaw(p *os.Process) error   { return p.Signal(syscall.SIGCONT) }
