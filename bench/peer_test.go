package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
)

// The process on the other side is played by two pipes.
func TestPeerTellsAnswersFromEvents(t *testing.T) {
	asked, in := io.Pipe()
	out, says := io.Pipe()
	var took []int64
	finished := 0
	p := &peer{kind: peerKind{script: "peer.js"}, in: in, waiting: map[int]chan error{}}
	p.hooks = hooks{started: func(n int64) { took = append(took, n) }, finished: func(n int) { finished += n }}
	go p.listen(out)
	got := make([]byte, 100)
	answers := make(chan error)
	send := func() string {
		go func() { answers <- p.ask(context.Background(), ask{"do": "load"}) }()
		n, err := asked.Read(got)
		if err != nil {
			t.Fatal(err)
		}
		return string(got[:n])
	}
	say := func(line string) {
		if _, err := io.WriteString(says, line+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	if line := send(); line != `{"do":"load","id":1}`+"\n" {
		t.Errorf("asked %q", line)
	}
	say(`{"finished":3,"started":[5,7]}`)
	say(`{"id":1}`)
	if err := <-answers; err != nil {
		t.Errorf("answered with %v", err)
	}
	if finished != 3 || !slices.Equal(took, []int64{5, 7}) {
		t.Errorf("told of %d ends and starts after %v", finished, took)
	}
	send()
	say(`{"id":2,"error":"no such table"}`)
	if err := <-answers; err == nil || !strings.Contains(err.Error(), "peer.js: no such table") {
		t.Errorf("answered with %v", err)
	}
	send()
	_ = says.Close()
	if err := <-answers; err == nil || !strings.Contains(err.Error(), "has ended") {
		t.Errorf("a process that ended answered with %v", err)
	}
	if err := p.ask(context.Background(), ask{"do": "stop"}); err == nil {
		t.Error("a process that has ended could be asked")
	}
}

func TestWithoutDriversPeersAreLeftOut(t *testing.T) {
	var drain *benchmark
	for _, b := range benchmarks() {
		if b.name == "drain" {
			drain = b
		}
	}
	o := &options{systems: []string{"river", "pg-boss"}}
	o.tuning.node.dir = t.TempDir()
	in, out := drain.taking(t.Context(), o)
	if len(in) != 1 || in[0].name != "river" {
		t.Errorf("takes %+v, want River alone", in)
	}
	if len(out) != 1 || !strings.HasPrefix(out[0], "pg-boss is left out: ") {
		t.Errorf("left out: %q", out)
	}
}
