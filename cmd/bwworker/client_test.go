package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"backwave/engine"
	"backwave/store"
)

const someID = "01890a5d-ac96-774b-bcce-b302099a8057"

func TestEnqueueOneJob(t *testing.T) {
	b := newBench(t)
	out := b.run(exitDone, "enqueue", "send", `{"to": "a@b"}`, "--queue", "mail", "--in", "1h", "--id", someID, "--unique", "k", "--max-attempts", "3", "--format", "json")
	if want := `{"id":"` + someID + `","name":"send","queue":"mail","existing":false}` + "\n"; out != want {
		t.Errorf("printed %q, want %q", out, want)
	}
	j := b.only("mail")
	if j.Name != "send" || string(j.Payload) != `{"to": "a@b"}` || j.UniqueKey != "k" || j.MaxAttempts != 3 || j.Due.Sub(j.Enqueued) != time.Hour {
		t.Errorf("the job is %+v", j)
	}
	b.run(exitDone, "enqueue", "send", `{"to": "a@b"}`, "--queue", "mail", "--id", someID) // again is no other job
	out = b.run(exitDone, "enqueue", "send", "--queue", "mail", "--unique", "k")
	b.shows(out, someID+"  send  mail  holds the key; nothing was added")
	b.run(exitFailed, "enqueue", "send", "--queue", "mail", "--id", someID) // another payload
	b.says("another job has this id")
	b.only("mail")
}

func TestEnqueueFromStandardInputAndOften(t *testing.T) {
	b := newBench(t)
	b.stdin = strings.NewReader("[1]")
	b.run(exitDone, "enqueue", "send", "-", "--at", "1960-01-31T08:00:00Z")
	if j := b.only("default"); string(j.Payload) != "[1]" || j.Due >= 0 {
		t.Errorf("the job is %+v", j)
	}
	out := b.run(exitDone, "enqueue send --count 2500 --queue many --format json")
	n, err := b.st.Unfinished(t.Context(), []string{"many"})
	if lines := strings.Count(out, "\n"); n != 2500 || lines != 2500 || err != nil {
		t.Errorf("added %d, told of %d, %v", n, lines, err)
	}
}

func TestEnqueueFromAFile(t *testing.T) {
	b := newBench(t)
	file := filepath.Join(t.TempDir(), "jobs.jsonl")
	if err := os.WriteFile(file, []byte("{\"name\": \"a\"}\n\n{\"name\": \"b\", \"queue\": \"other\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.run(exitDone, "enqueue", "--from", file, "--queue", "mine")
	if a, o := b.only("mine").Name, b.only("other").Name; a != "a" || o != "b" {
		t.Errorf("added %s and %s", a, o)
	}
	b.stdin = strings.NewReader("{\"name\": \"a\"}\n{}\n")
	b.run(exitUsage, "enqueue", "--from", "-", "--queue", "none")
	b.says("standard input:2: name: is empty")
	if n, _ := b.st.Unfinished(t.Context(), []string{"none"}); n != 0 {
		t.Errorf("%d jobs of a file with a mistake were added", n)
	}
}

func TestEnqueueRefusesNonsense(t *testing.T) {
	b := newBench(t)
	for args, want := range map[string]string{
		"enqueue":                                         "NAME is missing",
		"enqueue a b c":                                   "accepts at most 2",
		"enqueue a {":                                     "is not JSON",
		"enqueue a --in -1s":                              "--in is -1s",
		"enqueue a --in 1s --at x":                        "--at is beside --in",
		"enqueue a --at noon":                             `--at is "noon"`,
		"enqueue a --id x":                                `--id is "x"`,
		"enqueue a --count 0":                             "--count is 0",
		"enqueue a --count 2 --unique k":                  "only one job can have",
		"enqueue a --from x":                              "a name is beside --from",
		"enqueue --from x --unique k":                     "--unique is beside --from",
		"enqueue --from /nonexistent":                     "no such file",
		"enqueue a --max-attempts -1":                     "max attempts of job 0 is -1",
		"enqueue a --queue " + strings.Repeat("q", 256):   "has 256 bytes, at most 255 are allowed",
		"enqueue a --format yaml":                         `--format is "yaml"`,
		"enqueue a --timeout 0s":                          "--timeout",
		"enqueue a --store mysql://x:secret@h/db":         "mysql://x:xxxxx@h/db",
		"enqueue a --store sqlite:":                       "names nothing, want sqlite:FILE",
		"enqueue a --store postgres://me:sec:ret@h:port/": "postgres://xxxxx",
		"enqueue a -c /nonexistent":                       "no such file",
		"jobs":                                            "bwworker jobs needs a command: cancel, ls, requeue, show",
		"jobs ls --state odd":                             `unknown state "odd"`,
		"jobs ls --limit 0":                               "--limit is 0",
		"jobs show x y":                                   `job id "y"`,
		"jobs cancel":                                     "requires at least 1",
		"jobs cancel x":                                   `job id "x"`,
		"queues":                                          "needs a command",
	} {
		b.run(exitUsage, args)
		b.says(want)
		if strings.Contains(b.stderr.String(), "secret") {
			t.Errorf("standard error is %q", b.stderr.String())
		}
	}
	views, err := b.st.Queues(t.Context())
	if len(views) != 0 || err != nil {
		t.Errorf("something was added: %+v, %v", views, err)
	}
}

// played is a store with jobs in several states.
func played(t *testing.T) *bench {
	b := newBench(t)
	b.run(exitDone, "enqueue", "bad", `"x"`, "--id", someID, "--queue", "b")
	b.run(exitDone, "enqueue waits --in 1h --queue a")
	claimed, err := b.st.Claim(t.Context(), &store.Claim{Worker: "w", Number: 1, Queues: []store.Quota{{Queue: "b", Most: 1}}, Max: 1, Lease: time.Minute})
	if err != nil || len(claimed.Leases) != 1 {
		t.Fatal(claimed, err)
	}
	if _, err := b.st.Report(t.Context(), &store.Report{Worker: "w", Rows: []store.ReportRow{{Key: claimed.Leases[0].Key, Outcome: store.Discard{Error: "no\x1b[2J\nmore"}}}}); err != nil {
		t.Fatal(err)
	}
	return b
}

func TestListAndShowJobs(t *testing.T) {
	b := played(t)
	out := b.run(exitDone, "jobs ls")
	if lines := strings.Split(out, "\n"); len(lines) != 4 || !strings.HasPrefix(lines[0], "ID ") || !strings.Contains(lines[1], " waits ") || !strings.Contains(lines[2], `"no\x1b[2J …"`) {
		t.Errorf("printed was\n%s", out)
	}
	if out := b.run(exitDone, "jobs ls --limit 1 --format json"); strings.Count(out, "\n") != 1 {
		t.Errorf("printed was\n%s", out)
	}
	out = b.run(exitDone, "jobs ls --state dead-lettered,quarantined --format json")
	var v jobView
	if err := json.Unmarshal([]byte(out), &v); err != nil || v.ID.String() != someID || v.State != store.DeadLettered || v.LastError != "no\x1b[2J\nmore" || v.Finished == "" {
		t.Errorf("printed was\n%s: %v", out, err)
	}
	b.shows(b.run(exitDone, "jobs", "show", someID), "dead-lettered, attempt 1", `payload    "x"`, "attempt 1  \"discard at ")
	var d jobDetails
	out = b.run(exitFailed, "jobs", "show", "--format", "json", someID, "01890a5d-ac96-774b-bcce-b302099a8058")
	if err := json.Unmarshal([]byte(out), &d); err != nil || d.Payload != "x" || len(d.Attempts) != 1 || d.Attempts[0].Kind != store.EndDiscard {
		t.Errorf("printed was\n%s: %v", out, err)
	}
	b.says("job 01890a5d-ac96-774b-bcce-b302099a8058: store: no such job")
}

func TestBytesAreShownAsWhatTheyAre(t *testing.T) {
	for in, want := range map[string]string{"": "null", `{"a": 1}`: `{"a":1}`, "text": `"text"`, "\xff\x00": `{"base64":"/wA="}`} {
		if got, err := json.Marshal(viewBytes([]byte(in))); string(got) != want || err != nil {
			t.Errorf("%q is shown as %s, %v; want %s", in, got, err, want)
		}
	}
}

func TestCancelAndRequeue(t *testing.T) {
	b := played(t)
	waits := b.only("a").ID.String()
	if out := b.run(exitDone, "jobs", "requeue", someID, "--format", "json", "--actor", "ann"); out != `{"of":"`+someID+`","result":"changed"}`+"\n" {
		t.Errorf("printed was\n%s", out)
	}
	if s := b.only("b").State; s != store.Scheduled {
		t.Errorf("the job is %v", s)
	}
	out := b.run(exitFailed, "jobs", "requeue", waits, someID)
	b.shows(out, waits+"  refused", someID+"  refused")
	b.says(waits + ": refused: it is neither dead-lettered nor quarantined")
	b.run(exitDone, "jobs", "cancel", waits, someID)
	if s := b.only("a").State; s != store.Cancelled {
		t.Errorf("the job is %v", s)
	}
	b.run(exitFailed, "jobs", "cancel", "--force", waits, "01890a5d-ac96-774b-bcce-b302099a8058")
	b.says(waits+": refused: it has ended", ": not-found")
	if a := b.st.Audits(); len(a) != 3 || a[0].Actor != "ann" || a[1].Actor != whoami() {
		t.Errorf("audited was %+v", a)
	}
}

func TestQueues(t *testing.T) {
	b := played(t)
	b.run(exitDone, "queues", "pause", "a", `it's "🐘"`)
	out := b.run(exitDone, "queues ls")
	b.shows(out, "a         paused  1  ", `it's "🐘"  paused  0 `)
	b.run(exitDone, "queues", "resume", "a", "a")
	out = b.run(exitDone, "queues ls --format json")
	if want := `{"queue":"a","paused":false,"jobs":{"scheduled":1}}` + "\n" + `{"queue":"b","paused":false,"jobs":{"dead-lettered":1}}` + "\n" + `{"queue":"it's \"🐘\"","paused":true,"jobs":{}}` + "\n"; out != want {
		t.Errorf("printed was\n%s\nwant\n%s", out, want)
	}
	b.run(exitUsage, "queues", "pause", "nul\x00")
	b.says("NUL")
}

// A store that is busy or out of reach for a while is asked again, under the
// same request id.
type moody struct {
	store.Store
	sent  []string
	moods []error // nil: busy
}

func (m *moody) Do(ctx context.Context, r *store.Do) (*store.Done, error) {
	m.sent = append(m.sent, r.RequestID)
	if n := len(m.sent); n <= len(m.moods) {
		if err := m.moods[n-1]; err != nil {
			return nil, err
		}
		return &store.Done{Result: store.DoBusy}, nil
	}
	return m.Store.Do(ctx, r)
}

func TestACommandIsSentUntilItIsAnswered(t *testing.T) {
	lost := &store.TransientError{Fault: store.FaultConnection, Err: errors.New("lost")}
	b := newBench(t)
	m := &moody{Store: b.st, moods: []error{nil, lost}}
	b.open = func(context.Context, target) (*opened, error) { return &opened{Store: m, close: func() {}}, nil }
	b.run(exitDone, "queues pause a")
	if len(m.sent) != 3 || m.sent[0] != m.sent[1] || m.sent[1] != m.sent[2] {
		t.Errorf("sent were %q", m.sent)
	}
	m.sent, m.moods = nil, []error{lost, lost, lost, lost, lost, lost, lost, lost, lost}
	b.run(exitUnreachable, "queues resume a --timeout 100ms")
	m.sent, m.moods = nil, []error{errors.New("unheard of")}
	b.run(exitFailed, "queues resume a")
	b.says("unheard of")
}

func TestAMemoryStoreIsRefusedWhereNobodySeesIt(t *testing.T) {
	b := newBench(t)
	b.open = openStore
	b.run(exitUsage, "enqueue a --store memory:")
	b.says("lives and dies with one process")
}

// What is enqueued from outside is run by a worker that is told the same store.
func TestAWorkerRunsWhatIsEnqueuedFromOutside(t *testing.T) {
	b := newBench(t)
	b.run(exitDone, "enqueue", "echo", `"hi"`, "--count", "3")
	file := filepath.Join(t.TempDir(), "w.yaml")
	if err := os.WriteFile(file, []byte("groups: [{name: g, queues: [default]}]\nhandlers: {echo: {command: [cat], stdout: output}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := b.run(exitDone, "run", "-c", file, "--until-empty", "--store", "memory:")
	if out != "jobs: 3 succeeded\n" {
		t.Errorf("printed was %q", out)
	}
	if out := b.run(exitDone, "jobs ls --state succeeded --format json"); strings.Count(out, "\n") != 3 {
		t.Errorf("printed was\n%s", out)
	}
}

// Old failures in a store that outlives processes are not this run's.
func TestOnlyFailuresOfTheRunCount(t *testing.T) {
	b := played(t)
	file := filepath.Join(t.TempDir(), "w.yaml")
	if err := os.WriteFile(file, []byte("groups: [{name: g, queues: [b], retry: {max_attempts: 1}}]\nhandlers: {bad: {command: ['false']}}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.run(exitDone, "run", "-c", file, "--until-empty")
	client := engine.NewClient(engine.ClientConfig{Store: b.st, Queue: "b"})
	if _, err := client.Enqueue(t.Context(), "bad", nil); err != nil {
		t.Fatal(err)
	}
	out := b.run(exitFailed, "run", "-c", file, "--until-empty", "--format", "json")
	var s summary
	if err := json.Unmarshal([]byte(out), &s); err != nil || len(s.Failed) != 1 || s.Jobs["dead-lettered"] != 2 {
		t.Errorf("printed was\n%s: %v", out, err)
	}
}
