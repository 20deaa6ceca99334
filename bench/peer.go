package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"sync"

	"github.com/jackc/pgx/v5"
)

// ask is what a peer's process is asked, a line of JSON; serve.js is its side.
type ask map[string]any

// toldLine is a line of a peer's process: an answer, or what happened to jobs.
type toldLine struct {
	ID       int     `json:"id"` // 0: it is no answer
	Error    string  `json:"error"`
	Finished int     `json:"finished"`
	Started  []int64 `json:"started"` // from enqueue to handler, in nanoseconds
}

// peerKind is a system that runs in a process of Node.js.
type peerKind struct {
	script string // in the folder node
	schema string
	left   string // a query for its jobs that are not finished
	tuned  ask    // goes along with open and work
}

const (
	graphileSchema = "bench_graphile"
	bossSchema     = "bench_pgboss"
)

func graphileWorker(tuned ask) peerKind {
	return peerKind{"graphile.js", graphileSchema, "select count(*) from " + graphileSchema + "._private_jobs", tuned}
}

func pgBoss(tuned ask) peerKind {
	return peerKind{"pgboss.js", bossSchema, "select count(*) from " + bossSchema + ".job where state <> 'completed'", tuned}
}

// peer is such a system at work.
type peer struct {
	kind peerKind
	cmd  *exec.Cmd
	in   io.WriteCloser

	mu      sync.Mutex
	next    int
	waiting map[int]chan error
	ended   error // set once it says no more
	hooks   hooks
}

// openPeer returns an opener of a system of Node.js.
func openPeer(kind peerKind) opener {
	return func(ctx context.Context, url string, t tuning) (contender, error) {
		if err := fresh(ctx, url, kind.schema); err != nil {
			return nil, err
		}
		p, err := startPeer(kind, t.node)
		if err != nil {
			return nil, err
		}
		if err := p.ask(ctx, p.tuned("open", ask{"url": url, "schema": kind.schema, "connections": connections})); err != nil {
			p.close()
			return nil, err
		}
		return p, nil
	}
}

func startPeer(kind peerKind, n nodeKit) (*peer, error) {
	p := &peer{kind: kind, waiting: map[int]chan error{}}
	p.cmd = exec.Command(n.program, kind.script)
	p.cmd.Dir, p.cmd.Stderr = n.dir, os.Stderr
	p.cmd.Env = append(os.Environ(), "NO_LOG_SUCCESS=1") // graphile-worker: no line for each job, as in its own measurements
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go p.listen(out)
	return p, nil
}

// tuned is what is asked, with the options of this kind.
func (p *peer) tuned(do string, a ask) ask {
	out := ask{"do": do}
	maps.Copy(out, p.kind.tuned)
	maps.Copy(out, a)
	return out
}

// ask sends a line and waits for its answer.
func (p *peer) ask(ctx context.Context, a ask) error {
	answer := make(chan error, 1)
	p.mu.Lock()
	if p.ended != nil {
		defer p.mu.Unlock()
		return p.ended
	}
	p.next++
	a["id"] = p.next
	p.waiting[p.next] = answer
	b, err := json.Marshal(a)
	if err == nil {
		_, err = p.in.Write(append(b, '\n'))
	}
	p.mu.Unlock()
	if err != nil {
		return fmt.Errorf("%s: ask: %w", p.kind.script, err)
	}
	select {
	case err := <-answer:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// listen takes in what the process says, until it ends.
func (p *peer) listen(out io.Reader) {
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var l toldLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %s\n", p.kind.script, lines.Bytes()) // a library that prints
			continue
		}
		p.mu.Lock()
		h, answer := p.hooks, p.waiting[l.ID]
		delete(p.waiting, l.ID)
		p.mu.Unlock()
		if answer != nil {
			answer <- failure(p.kind.script, l.Error)
			continue
		}
		for _, took := range l.Started {
			h.start(took)
		}
		if l.Finished > 0 {
			h.finished(l.Finished)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = fmt.Errorf("%s has ended: %w", p.kind.script, errors.Join(lines.Err(), io.EOF))
	for _, answer := range p.waiting {
		answer <- p.ended
	}
	clear(p.waiting)
}

func failure(who, text string) error {
	if text == "" {
		return nil
	}
	return fmt.Errorf("%s: %s", who, text)
}

// pid is the process whose processor time is the client's, beside ours.
func (p *peer) pid() int { return p.cmd.Process.Pid }

func (p *peer) close() {
	_ = p.in.Close() // it ends when its input does
	_ = p.cmd.Wait()
}

func (p *peer) load(ctx context.Context, n int) error {
	return inParts(n, func(part int) error { return p.ask(ctx, ask{"do": "load", "n": part, "fill": fill}) })
}

func (p *peer) add(ctx context.Context, sent int64) error {
	return p.ask(ctx, ask{"do": "add", "sent": sent, "fill": fill})
}

// addEach implements eachAdder: a line for each job would be a cost of ours.
func (p *peer) addEach(ctx context.Context, n, loops int) error {
	return p.ask(ctx, ask{"do": "addEach", "n": n, "loops": loops, "fill": fill})
}

func (p *peer) left(ctx context.Context, conn *pgx.Conn) (n int, err error) {
	err = conn.QueryRow(ctx, p.kind.left).Scan(&n)
	return n, err
}

func (p *peer) work(ctx context.Context, h hooks) (func() error, error) {
	p.mu.Lock()
	p.hooks = h
	p.mu.Unlock()
	if err := p.ask(ctx, p.tuned("work", nil)); err != nil {
		return nil, err
	}
	return func() error { return p.ask(context.WithoutCancel(ctx), ask{"do": "stop"}) }, nil
}
