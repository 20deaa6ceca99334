package pump_test

import (
	"fmt"
	"strings"

	"backwave/engine/pump"
	"backwave/store"
)

// event reads an event, and how it is printed.
func (s *script) event(cmd string, w *words) (pump.Event, string) {
	switch cmd {
	case "woken":
		return pump.Woken{}, "woken"
	case "hinted":
		return pump.Hinted{}, "hinted"
	case "wall-jumped":
		return pump.WallJumped{}, "wall jumped"
	case "drained":
		return pump.Drained{}, "drained"
	case "broke":
		c := pump.Cause{Type: w.string("type"), Message: w.string("text")}
		return pump.Broke{Cause: c}, "broke: " + c.String()
	case "returned":
		return s.returned(w)
	case "progressed":
		k, data := w.key(w.word(), 0), w.string("data")
		return pump.Progressed{Key: k, Data: []byte(data)}, fmt.Sprintf("progressed %s %q", keyName(k), data)
	case "completing":
		k := w.key(w.word(), 0)
		return pump.Completing{Key: k}, "completing " + keyName(k)
	case "completed":
		return completed(w)
	case "claimed":
		return s.claimed(w)
	case "renewed":
		return s.renewed(w)
	case "reported":
		return s.reported(w)
	case "swept":
		c, n := s.sent(w, pump.Sweeping), w.int("disposed")
		return pump.Swept{Op: c.Op, Disposed: n}, fmt.Sprintf("swept op=%d disposed=%d", c.Op, n)
	case "failed":
		return s.failed(w)
	}
	w.fail("unknown word %q", cmd)
	return pump.Woken{}, ""
}

// sent reads the op of a call and checks that it is of the kind an answer to
// it must have.
func (s *script) sent(w *words, kind pump.Kind) pump.Call {
	op := w.int("op")
	c, ok := s.calls[pump.Op(op)]
	if !ok {
		w.fail("op=%d was never sent", op)
		return pump.Call{Req: &store.Claim{Number: 1}}
	}
	if c.Kind != kind {
		w.fail("op=%d is a %v", op, c.Kind)
	}
	return c
}

func (s *script) claimed(w *words) (pump.Event, string) {
	c := s.sent(w, pump.Claiming)
	ev := pump.Claimed{Op: c.Op}
	if v, ok := w.take("next"); ok {
		ev.HasNext, ev.Next = true, w.span(strings.Join(v, ""))
	}
	r, ok := c.Req.(*store.Claim)
	if !ok {
		return ev, ""
	}
	names := []string{}
	for _, row := range w.rows {
		f := strings.Fields(row)
		l := store.Lease{Key: w.key(f[0], r.Number), Name: "work", Queue: s.cfg.Queues[0].Name}
		for _, p := range f[1:] {
			key, val, ok := strings.Cut(p, "=")
			switch {
			case ok && key == "name":
				l.Name = val
			case ok && key == "queue":
				l.Queue = val
			case ok && key == "damage":
				l.Damage = val
			default:
				w.fail("unknown word %q", p)
			}
		}
		ev.Leases = append(ev.Leases, l)
		names = append(names, keyName(l.Key))
	}
	w.rows = nil
	return ev, fmt.Sprintf("claimed op=%d [%s]", c.Op, strings.Join(names, " "))
}

// answerRows returns a line for each row of a request: those of the script, in
// the order of the request, or, for the word all, the same for each.
func answerRows(w *words, keys []store.LeaseKey, good string) [][]string {
	out := make([][]string, len(keys))
	if w.flag("all") {
		for i := range keys {
			out[i] = []string{good}
		}
		return out
	}
	if len(w.rows) != len(keys) {
		w.fail("%d lines for %d rows", len(w.rows), len(keys))
		return nil
	}
	for i, row := range w.rows {
		f := strings.Fields(row)
		if k := w.key(f[0], 0); k != keys[i] {
			w.fail("row %d is %s, the line says %q", i, keyName(keys[i]), f[0])
		}
		if len(f) < 2 {
			w.fail("line %q says nothing", row)
			return nil
		}
		out[i] = f[1:]
	}
	w.rows = nil
	return out
}

func (s *script) renewed(w *words) (pump.Event, string) {
	c := s.sent(w, pump.Renewing)
	ev, heard := pump.Renewed{Op: c.Op}, []string{}
	r, ok := c.Req.(*store.Renew)
	if !ok {
		return ev, ""
	}
	keys := make([]store.LeaseKey, len(r.Rows))
	for i := range r.Rows {
		keys[i] = r.Rows[i].Key
	}
	for i, f := range answerRows(w, keys, "renewed") {
		var a store.RenewAnswer
		if err := a.Status.UnmarshalText([]byte(f[0])); err != nil {
			w.fail("%w", err)
		}
		a.Cancel = len(f) == 2 && f[1] == "cancel"
		if len(f) > 1 && !a.Cancel {
			w.fail("unknown word %q", f[1])
		}
		ev.Rows = append(ev.Rows, a)
		heard = append(heard, keyName(keys[i])+" "+strings.Join(f, " "))
	}
	return ev, fmt.Sprintf("renewed op=%d [%s]", c.Op, strings.Join(heard, ", "))
}

func (s *script) reported(w *words) (pump.Event, string) {
	c := s.sent(w, pump.Reporting)
	ev, heard := pump.Reported{Op: c.Op}, []string{}
	r, ok := c.Req.(*store.Report)
	if !ok {
		return ev, ""
	}
	keys := make([]store.LeaseKey, len(r.Rows))
	for i := range r.Rows {
		keys[i] = r.Rows[i].Key
	}
	for i, f := range answerRows(w, keys, "applied") {
		a := store.ReportAnswer{Reason: strings.Join(f[1:], " ")}
		if err := a.Status.UnmarshalText([]byte(f[0])); err != nil {
			w.fail("%w", err)
		}
		if a.Reason != "" && a.Status != store.ReportRejected {
			w.fail("unknown word %q", f[1])
		}
		ev.Rows = append(ev.Rows, a)
		heard = append(heard, keyName(keys[i])+" "+strings.Join(f, " "))
	}
	return ev, fmt.Sprintf("reported op=%d [%s]", c.Op, strings.Join(heard, ", "))
}

// failed reads an error: failed op=1 connection text=(connection refused).
func (s *script) failed(w *words) (pump.Event, string) {
	ev := pump.Failed{Op: pump.Op(w.int("op")), Text: w.string("text"), Type: w.string("type")}
	name := w.word()
	f, err := store.ParseFault(name)
	if err != nil {
		w.fail("unknown fault %q", name)
	}
	ev.Fault = f
	return ev, fmt.Sprintf("failed op=%d %v", ev.Op, f)
}

// completed reads the end of a completion: completed j1#1@1 rolled-back.
func completed(w *words) (pump.Event, string) {
	ev, end := pump.Completed{Key: w.key(w.word(), 0)}, w.word()
	for c, name := range completionNames {
		if name == end {
			ev.End = c
		}
	}
	if ev.End == 0 {
		w.fail("unknown end %q", end)
	}
	return ev, fmt.Sprintf("completed %s %s", keyName(ev.Key), end)
}

var completionNames = map[store.Completion]string{
	store.CompletionCommitted: "committed", store.CompletionRolledBack: "rolled-back", store.CompletionUnknown: "unknown",
}

// returned reads the end of a handler: returned j1#1@1 failure=(no such host).
func (s *script) returned(w *words) (pump.Event, string) {
	if len(w.args) < 2 {
		w.fail("want a key and an outcome")
		return pump.Returned{}, ""
	}
	ev := pump.Returned{Key: w.key(w.word(), 0)}
	name := w.args[0].Key
	vals, given := w.take(name)
	text := strings.Join(vals, ", ")
	switch {
	case name == "success" && given && vals != nil:
		ev.Outcome = store.Success{Output: []byte(text)}
	case name == "success":
		ev.Outcome = store.Success{}
	case name == "failure":
		after := w.duration("retry-after")
		ev.Outcome = store.Failure{Error: text, HasRetryAfter: after != 0, RetryAfter: after}
	case name == "discard":
		ev.Outcome = store.Discard{Error: text}
	case name == "snooze" && text != "":
		ev.Outcome = store.Snooze{Delay: w.span(text)}
	case name == "unknown-name":
		ev.Outcome = store.UnknownName{}
	case name == "undecodable":
		ev.Outcome = store.Undecodable{Error: text}
	default:
		w.fail("unknown outcome %q", name)
		return ev, ""
	}
	return ev, fmt.Sprintf("returned %s %s", keyName(ev.Key), outcomeText(ev.Outcome))
}
