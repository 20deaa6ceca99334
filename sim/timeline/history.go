package timeline

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"backwave/checker"
	"backwave/history"
	"backwave/store"
)

// recordedCall is what a history says of one call.
type recordedCall struct {
	id       uint64
	client   string
	req      store.Request
	sent     int64
	reply    store.Reply // nil if there was none
	answered int64       // or None
	applied  []int64     // as a world tells it
	lost     int64       // likewise, or None
	err      string
}

// historian makes a page of recorded calls.
type historian struct {
	*draft
	calls []recordedCall
	start int64           // time of the first record
	ahead int64           // the store's clock less that of the records, ns
	views map[holder]int  // own views, by the calls
	names map[string]bool // of jobs, taken
	last  map[[2]int]int  // attempt (job, attempt) → its last run
}

// OfHistory makes a page of what clients saw of a store. It has no faults and no
// handlers: a handler's bar is guessed from the answer of its claim to the send of
// its report, and an own view is what the rules allow a node to believe. lin says
// what was found in it.
func OfHistory(log *history.Log, lin checker.Linear) *Page {
	h := &historian{draft: newDraft(), views: map[holder]int{}, names: map[string]bool{}, last: map[[2]int]int{}}
	h.read(log.Records())
	h.measure()
	for i := range h.calls {
		h.draw(&h.calls[i])
	}
	h.lapse()
	h.found(lin)
	h.page.Notes = append(h.page.Notes, "Recorded calls tell nothing of handlers, faults and clocks. The bar of a handler goes from the answer to its claim to the send of its report, an own view is what the rules allow, and the instant at which the store carried out a call is taken from its answer.")
	return h.finish(0)
}

// read puts the records of each call together.
func (h *historian) read(records []history.Record) {
	at := map[uint64]int{}
	if len(records) > 0 {
		h.start = records[0].At
	}
	if h.start > int64(10*365*24*time.Hour) {
		h.page.Epoch = time.Unix(0, h.start).UTC().Format(time.RFC3339Nano)
	}
	for i := range records {
		r := &records[i]
		now := r.At - h.start
		h.see(now)
		k, ok := at[r.Call]
		switch {
		case r.Kind == history.Sent:
			at[r.Call] = len(h.calls)
			h.calls = append(h.calls, recordedCall{id: r.Call, client: r.Client, req: r.Req, sent: now, answered: None, lost: None})
		case r.Kind == history.Forgot:
			h.page.Shades = append(h.page.Shades, Shade{Kind: "mark", Node: TheStore, Job: None, From: now, To: now, Text: "the store FORGETS its last commits"})
			h.tell(now, TheStore, None, "the store FORGETS its last commits").Bad = true
		case !ok:
		default:
			h.more(&h.calls[k], r, now)
		}
	}
}

func (h *historian) more(c *recordedCall, r *history.Record, now int64) {
	switch r.Kind {
	case history.Answered:
		if c.answered == None {
			c.answered, c.reply = now, r.Reply
		}
	case history.Failed:
		c.answered, c.err = now, r.Fault.String()
		if r.Err != "" {
			c.err += ": " + r.Err
		}
	case history.Applied:
		c.applied = append(c.applied, now)
		if c.reply == nil {
			c.reply = r.Reply
		}
	case history.Lost:
		c.lost = now
	case history.Sent, history.Doubled, history.Forgot, history.Stepped:
	}
}

// measure finds how far the store's clock is ahead: the median over all answers
// of what it showed beside the middle between send and answer. The strip of the
// store's clock shows by how much an answer is before its send or after its
// arrival for all that.
func (h *historian) measure() {
	var all []int64
	strip := Clock{Node: TheStore, Name: "the store's clock"}
	for i := range h.calls {
		if c := &h.calls[i]; c.reply != nil && c.answered != None {
			all = append(all, int64(c.reply.DecidedAt())*1000-(c.sent+c.answered)/2)
		}
	}
	if len(all) == 0 {
		return
	}
	slices.Sort(all)
	h.ahead = all[len(all)/2]
	for i := range h.calls {
		c := &h.calls[i]
		if c.reply == nil || c.answered == None {
			continue
		}
		shown := h.instant(c.reply.DecidedAt())
		p := Point{At: (c.sent + c.answered) / 2, Ahead: shown - min(max(shown, c.sent), c.answered)} // by how much at least
		if n := len(strip.Points); n == 0 || p.Ahead != strip.Points[n-1].Ahead && p.At > strip.Points[n-1].At {
			strip.Points = append(strip.Points, p)
		}
	}
	h.page.Clocks = append(h.page.Clocks, strip)
}

// instant is when the store's clock showed i, by the clock of the records.
func (h *historian) instant(i store.Instant) int64 {
	if int64(i) > math.MaxInt64/1000 {
		return Endless
	}
	return int64(i)*1000 - h.ahead
}

func (h *historian) words(i store.Instant) string { return since(h.instant(i)) }

// draw draws one call with what followed from it.
func (h *historian) draw(r *recordedCall) {
	worker := None
	if name, node, process := whose(r.client, r.req); name != "" {
		worker = h.worker(name, node, process)
	}
	c := h.sent(r.sent, r.id, store.Verb(r.req), worker, r.req)
	c.Answered, c.Lost, c.Applied = r.answered, r.lost, r.applied
	if r.reply != nil && len(c.Applied) == 0 {
		c.Guess = true
		at := max(r.sent, h.instant(r.reply.DecidedAt()))
		if r.answered != None {
			at = min(at, r.answered)
		}
		c.Applied = []int64{at}
	}
	if r.err != "" {
		h.failed(r.answered, c, r.err)
	}
	if s, ok := r.req.(*store.Report); ok {
		for i := range s.Rows {
			h.reports(r.sent, worker, s.Rows[i])
		}
	}
	if r.reply == nil {
		return
	}
	at := c.Applied[0]
	h.effects(at, r, worker, c)
	h.decided(at, c, r.reply, h.words)
}

// lapse ends what nobody has seen the end of with its lease.
func (h *historian) lapse() {
	for i := range h.page.Views {
		if v := &h.page.Views[i]; v.To == None && v.Until < h.draft.last {
			v.To = v.Until
		}
	}
	for i := range h.page.Runs {
		r := &h.page.Runs[i]
		if r.To != None {
			continue
		}
		for k := range h.page.Views {
			if v := &h.page.Views[k]; v.Job == r.Job && v.Attempt == r.Attempt && v.Worker == r.Worker && v.To != None {
				r.To, r.End = max(r.From, v.To), "no report was seen"
			}
		}
	}
}

// found adds what a check of the history has shown.
func (h *historian) found(lin checker.Linear) {
	p := &h.page
	p.Verdict = "held"
	switch {
	case lin.BlackBox == checker.Violated || lin.Bounded == checker.Violated:
		p.Verdict = "violated"
	case lin.BlackBox == checker.Undecided || lin.Bounded == checker.Undecided:
		p.Verdict = "undecided"
	}
	p.Facts = append(p.Facts, fmt.Sprintf("%d calls", len(h.calls)), fmt.Sprintf("%d jobs", lin.Jobs))
	for _, f := range lin.Findings {
		v := Violation{Invariant: f.Invariant, At: f.At - h.start, Job: None, Message: h.page.named(f.Message)}
		if !f.Job.IsZero() {
			v.Job = h.job(f.Job)
		}
		p.Violations = append(p.Violations, v)
		h.tell(v.At, TheStore, v.Job, "VIOLATION of %s: %s", v.Invariant, v.Message).Bad = true
	}
}

// whose returns who made a call: a worker and where it runs, "" for people.
func whose(client string, req store.Request) (name, node string, process int) {
	switch r := req.(type) {
	case *store.Claim:
		client = r.Worker
	case *store.Renew:
		client = r.Worker
	case *store.Report:
		client = r.Worker
	case *store.Sweep:
	case *store.Enqueue, *store.Do:
		return "", "", 0
	}
	node, process = place(client)
	return client, node, process
}

// place reads from a worker's name where it runs: n1.2/default/0 is the second
// process of n1, host/4711/default/0/… the process 4711 of a host, whose sweeps
// are made by "bwworker host/4711".
func place(worker string) (node string, process int) {
	_, name, ok := strings.Cut(worker, " ")
	if !ok {
		name = worker
	}
	parts := strings.Split(name, "/")
	if len(parts) == 2 || len(parts) > 3 {
		return parts[0] + "/" + parts[1], 1
	}
	node = parts[0]
	if i := strings.LastIndex(node, "."); i > 0 {
		if _, err := fmt.Sscanf(node[i+1:], "%d", &process); err == nil {
			return node[:i], process
		}
	}
	return node, 1
}
