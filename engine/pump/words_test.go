package pump_test

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/cockroachdb/datadriven"

	"backwave/engine/pump"
	"backwave/store"
)

// words reads the arguments of one directive. It keeps the first mistake, and
// end reports it, or a word that nobody asked for.
type words struct {
	args []datadriven.CmdArg
	rows []string
	err  error
}

func newWords(d *datadriven.TestData) *words {
	w := &words{args: append([]datadriven.CmdArg(nil), d.CmdArgs...)}
	for row := range strings.Lines(d.Input) {
		w.rows = append(w.rows, strings.TrimSpace(row))
	}
	return w
}

func (w *words) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// end returns the first mistake.
func (w *words) end() error {
	if len(w.args) > 0 {
		w.fail("unknown word %q", w.args[0].Key)
	}
	if len(w.rows) > 0 {
		w.fail("unknown line %q", w.rows[0])
	}
	return w.err
}

// take removes the argument key and returns its values.
func (w *words) take(key string) ([]string, bool) {
	for i, a := range w.args {
		if a.Key == key {
			w.args = append(w.args[:i:i], w.args[i+1:]...)
			return a.Vals, true
		}
	}
	return nil, false
}

func (w *words) string(key string) string {
	v, ok := w.take(key)
	if !ok {
		return ""
	}
	return strings.Join(v, ", ")
}

func (w *words) flag(key string) bool {
	_, ok := w.take(key)
	return ok
}

func (w *words) int(key string) int {
	v := w.string(key)
	if v == "" {
		return 0
	}
	return w.number(v)
}

func (w *words) number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		w.fail("%q is no number", s)
	}
	return n
}

func (w *words) duration(key string) time.Duration {
	v := w.string(key)
	if v == "" {
		return 0
	}
	return w.span(v)
}

func (w *words) span(s string) time.Duration {
	d, err := time.ParseDuration(s)
	if err != nil {
		w.fail("%q is no duration", s)
	}
	return d
}

// word takes the next argument without a value.
func (w *words) word() string {
	if len(w.args) == 0 || len(w.args[0].Vals) > 0 {
		return ""
	}
	s := w.args[0].Key
	w.args = w.args[1:]
	return s
}

func (w *words) time() time.Duration {
	s := w.word()
	if s == "" {
		w.fail("want a time such as 20s")
		return 0
	}
	return w.span(s)
}

// key reads job#attempt@claim; without @claim it is number.
func (w *words) key(s string, number uint64) store.LeaseKey {
	var k store.LeaseKey
	var job, claim int
	k.Claim = number
	base, at, explicit := strings.Cut(s, "@")
	if explicit {
		claim = w.number(at)
		k.Claim = uint64(claim)
	}
	j, a, ok := strings.Cut(base, "#")
	if ok && strings.HasPrefix(j, "j") {
		job, k.Attempt = w.number(j[1:]), w.number(a)
	}
	if job < 1 || k.Attempt < 1 || k.Claim < 1 {
		w.fail("%q is no key such as j1#1@1", s)
	}
	k.Job = jobID(job)
	return k
}

// config reads the arguments of the directive pump.
func config(w *words) pump.Config {
	c := pump.Config{
		PoolSize: w.int("pool"), ClaimBatch: w.int("claim-batch"), ReportBatch: w.int("report-batch"), SweepBatch: w.int("sweep-batch"),
		LeaseDuration: w.duration("lease"), HeartbeatInterval: w.duration("heartbeat"), MaintenanceInterval: w.duration("maintenance"),
		PollInterval: w.duration("poll"), MaxPollInterval: w.duration("max-poll"), OperationTimeout: w.duration("operation-timeout"),
		AbandonAfter: w.duration("abandon-after"), ShutdownTimeout: w.duration("shutdown"), FinishTimeout: w.duration("finish"),
		ReleaseOnDrain: w.flag("release"),
	}
	queues, _ := w.take("queues")
	for _, q := range queues {
		name, weight, weighted := strings.Cut(q, ":")
		queue := pump.Queue{Name: name}
		if weighted {
			c.Weighted = true
			queue.Weight = w.number(weight)
		}
		c.Queues = append(c.Queues, queue)
	}
	timeouts, _ := w.take("timeouts")
	for _, t := range timeouts {
		name, after, _ := strings.Cut(t, ":")
		c.Timeouts = append(c.Timeouts, pump.Timeout{Name: name, After: w.span(after)})
	}
	return c
}
