//go:build unix

package nemesis

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"backwave/clockx"
)

// Process is one start of a worker.
type Process struct {
	Node    string // "n1"
	Number  int    // of the starts of the node, from 1
	PID     int
	Began   time.Time
	Ended   time.Time
	Exit    string // how it ended, for people
	History string // file
	Log     string // file
}

// stopWait is how long a worker may take to stop when it is asked to: its
// handlers have until shutdown, and calls under way their time.
const stopWait = 15 * time.Second

// node is a worker and the processes it had.
type node struct {
	name  string
	args  [2]string // store and schema
	run   *run
	mu    sync.Mutex
	proc  *exec.Cmd
	gone  chan struct{} // closed when proc has ended
	asked string        // the signal by which proc was asked to end
	last  *Process
	past  []*Process
	over  bool // no more starts
	waits sync.WaitGroup
}

// start starts the next process.
func (n *node) start() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.startLocked()
}

func (n *node) startLocked() error {
	if n.over {
		return nil
	}
	p := &Process{Node: n.name, Number: len(n.past) + 1, Began: n.run.now()}
	base := filepath.Join(n.run.cfg.Dir, fmt.Sprintf("%s-%d", n.name, p.Number))
	p.History, p.Log = base+".jsonl", base+".log"
	log, err := os.Create(p.Log)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }() // the process has its own
	c, err := n.run.cfg.Worker([]string{n.args[0], n.args[1], p.History, fmt.Sprintf("%s.%d", n.name, p.Number)})
	if err != nil {
		return err
	}
	c.Stdout, c.Stderr = log, log
	// An interrupt from the terminal is for us alone; the worker ends with us,
	// since its input does. One that is frozen then gets a SIGHUP from the system.
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if _, err := c.StdinPipe(); err != nil {
		return err
	}
	if err := c.Start(); err != nil {
		return fmt.Errorf("start a worker: %w", err)
	}
	p.PID = c.Process.Pid
	n.proc, n.gone, n.asked, n.last = c, make(chan struct{}), "", p
	n.past = append(n.past, p)
	gone := n.gone
	n.waits.Go(func() { n.wait(c, p, gone) })
	return nil
}

// wait waits for the end of a process, and judges how it ended. One that ended
// without having been asked to is a finding; another takes its place.
func (n *node) wait(c *exec.Cmd, p *Process, gone chan struct{}) {
	_ = c.Wait() // the state says how it ended
	n.mu.Lock()
	defer n.mu.Unlock()
	defer close(gone)
	p.Ended, p.Exit = n.run.now(), c.ProcessState.String()
	status, _ := c.ProcessState.Sys().(syscall.WaitStatus)
	fine := false
	switch n.asked {
	case "SIGKILL":
		fine = status.Signaled() && status.Signal() == syscall.SIGKILL
	case "SIGTERM": // one that has not come so far as to listen for it dies of it
		fine = status.Exited() && (status.ExitStatus() == ExitDone || status.ExitStatus() == ExitAbandoned) || status.Signaled() && status.Signal() == syscall.SIGTERM
	}
	if fine {
		return
	}
	asked := "nobody had asked it to end"
	if n.asked != "" {
		asked = "it was asked to by " + n.asked
	}
	n.run.find(checkHealth, "", "process %d of %s ended with %s, and %s: %s", p.Number, n.name, p.Exit, asked, tail(p.Log))
	if n.asked == "" && !n.over {
		_ = clockx.Sleep(n.run.trouble, clockx.Wall{}, poll) // not as fast as it can
		if err := n.startLocked(); err != nil {
			n.run.fail(err)
		}
	}
}

// tail returns the last line of a file that says something.
func tail(name string) string {
	b, err := os.ReadFile(name)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	line := lines[len(lines)-1]
	for _, l := range lines { // rather the first that says why
		if strings.HasPrefix(l, "panic:") || strings.HasPrefix(l, "worker:") || strings.HasPrefix(l, "fatal error:") {
			line = l
			break
		}
	}
	if line == "" {
		return "it said nothing"
	}
	return line[:min(len(line), 1000)]
}

// signal sends a signal that does not end the process.
func (n *node) signal(sig syscall.Signal) {
	n.mu.Lock()
	defer n.mu.Unlock()
	_ = n.proc.Process.Signal(sig) // it may be gone
}

// end asks the process to end and waits until it has.
func (n *node) end(sig syscall.Signal, name string) {
	n.mu.Lock()
	select {
	case <-n.gone:
		n.mu.Unlock()
		return
	default:
	}
	n.asked = name
	c, gone := n.proc, n.gone
	_ = c.Process.Signal(sig)
	n.mu.Unlock()
	if sig == syscall.SIGKILL {
		<-gone
		return
	}
	late := clockx.Wall{}.AfterFunc(stopWait, func() {
		n.run.find(checkHealth, "", "%s does not stop within %v of SIGTERM", n.name, stopWait)
		n.mu.Lock()
		defer n.mu.Unlock()
		n.asked = "SIGKILL"
		_ = c.Process.Kill()
	})
	<-gone
	late.Stop()
}

// stop ends the last process for good, and waits for all.
func (n *node) stop(kill bool) {
	n.mu.Lock()
	n.over = true
	started := n.proc != nil
	n.mu.Unlock()
	if started {
		n.signal(syscall.SIGCONT)
		if kill {
			n.end(syscall.SIGKILL, "SIGKILL")
		} else {
			n.end(syscall.SIGTERM, "SIGTERM")
		}
	}
	n.waits.Wait()
}

// suffer does to the process what the fault says, and lasts as long.
func (n *node) suffer(ctx context.Context, f Fault) error {
	if f.Kind == Freeze {
		n.signal(syscall.SIGSTOP)
		_ = clockx.Sleep(ctx, clockx.Wall{}, f.For)
		n.signal(syscall.SIGCONT)
		return nil
	}
	if f.Kind == Terminate {
		n.end(syscall.SIGTERM, "SIGTERM")
	} else {
		n.end(syscall.SIGKILL, "SIGKILL")
	}
	_ = clockx.Sleep(ctx, clockx.Wall{}, f.For)
	return n.start()
}
