package sim

import (
	"fmt"
	"time"

	"backwave/checker"
	"backwave/engine/pump"
	"backwave/store"
	"backwave/store/memory"
)

// tracer folds everything that happens into one hash, and prints it if
// somebody listens. Both see the same: if two runs differ in the hash, their
// lines show where.
type tracer struct {
	hash uint64
	out  func(string)
}

func (t *tracer) word(words ...uint64) {
	h := t.hash
	for _, x := range words {
		h = (h ^ x) * 0x9e3779b97f4a7c15
		h ^= h >> 29
	}
	t.hash = h
}

func (t *tracer) line(w *world, format string, args ...any) {
	t.out(fmt.Sprintf("%016x %14d #%d ", t.hash, w.now, w.events) + fmt.Sprintf(format, args...))
}

var kindNames = [...]string{evApply: "apply", evReply: "reply", evReturn: "return", evProgress: "progress", evWake: "wake", evHint: "hint", evBoot: "boot", evExit: "exit", evFault: "fault", evEnqueue: "enqueue", evProbe: "probe", evHandler: "handler", evOutside: "outside"}

func (t *tracer) event(w *world, e event) {
	t.word(uint64(e.at), uint64(e.kind)<<40|uint64(e.step)<<32|uint64(uint32(e.ref)))
	if t.out != nil {
		t.line(w, "%s ref=%d step=%d", kindNames[e.kind], e.ref, e.step)
	}
}

func (t *tracer) call(h *host, op pump.Op, k checker.CallKind, req store.Request) {
	t.word(1, uint64(h.id)<<8|uint64(k), uint64(op))
	switch r := req.(type) {
	case *store.Claim:
		t.word(r.Number, uint64(r.Max))
	case *store.Renew:
		for i := range r.Rows {
			t.key(r.Rows[i].Key)
		}
	case *store.Report:
		for i := range r.Rows {
			t.key(r.Rows[i].Key)
			t.word(uint64(r.Rows[i].Outcome.Kind()))
		}
	case *store.Sweep, *store.Enqueue, *store.Do:
	}
	if t.out != nil {
		t.line(h.w, "  %s calls %s op=%d", h.worker, callName(k), op)
	}
}

func (t *tracer) key(k store.LeaseKey) {
	t.word(uint64(k.Job[0])<<56|uint64(k.Job[6])<<48|uint64(k.Job[7])<<40|uint64(k.Job[8])<<32|uint64(k.Job[9])<<24|uint64(k.Job[13])<<16|uint64(k.Job[14])<<8|uint64(k.Job[15]), uint64(k.Attempt), k.Claim)
}

func (t *tracer) start(h *host, k store.LeaseKey) {
	t.word(2, uint64(h.id))
	t.key(k)
	if t.out != nil {
		t.line(h.w, "  %s starts %s", h.worker, h.w.key(k))
	}
}

func (t *tracer) cancel(h *host, k store.LeaseKey, why pump.Reason) {
	t.word(3, uint64(h.id), uint64(why))
	t.key(k)
	if t.out != nil {
		t.line(h.w, "  %s tells %s: %s", h.worker, h.w.key(k), why)
	}
}

func (t *tracer) note(h *host, a pump.Action) {
	n := uint64(0)
	switch a := a.(type) {
	case pump.Degraded:
		n = 1 + uint64(a.Kind)
	case pump.Recovered:
		n = 11 + uint64(a.Kind)
	case pump.Halted:
		n = 21
	case pump.Stopped:
		n = 22
	case pump.Dropped:
		n = 31 + uint64(a.Kind)
	case pump.Abandoned:
		n = 23
	case pump.Call, pump.Start, pump.Cancel:
	}
	t.word(4, uint64(h.id), n)
	if t.out != nil {
		t.line(h.w, "  %s notes %T", h.worker, a)
	}
}

// need folds in what a handler in Go asks for.
func (t *tracer) need(h *host, k store.LeaseKey, n Need) {
	t.word(8, uint64(h.id))
	t.key(k)
	what := ""
	switch n := n.(type) {
	case NeedSleep:
		what = fmt.Sprint("sleep ", n.For)
	case NeedCall:
		what = n.To + " " + n.Text
	case NeedCommit:
		what = "commit " + string(n.Output)
	case NeedEnqueue:
		for i := range n.Req.Jobs {
			what += "enqueue " + n.Req.Jobs[i].ID.String() + string(n.Req.Jobs[i].Payload)
		}
	case NeedCompleted:
		what = fmt.Sprint("completed ", n.How)
	case NeedEnd:
		what = "end"
	case NeedProgress, NeedCompleting, NeedStop:
	}
	t.word(text(what))
	if t.out != nil {
		t.line(h.w, "  %s needs %T %q", h.w.key(k), n, what)
	}
}

// commit folds in what the store did: the rows it changed and what it said.
func (t *tracer) commit(f *flight, changes []memory.Change) {
	t.word(5, uint64(f.call.Ghost), uint64(len(changes)))
	for i := range changes {
		j := &changes[i].After
		t.word(uint64(j.State), uint64(j.Attempt), uint64(j.Due), uint64(j.LeaseUntil), uint64(j.Base))
	}
	if f.err != nil {
		t.word(6)
	}
	switch r := f.reply.(type) {
	case *store.Claimed:
		t.word(uint64(r.At), uint64(len(r.Leases)), uint64(r.Next))
	case *store.Renewed:
		for i := range r.Rows {
			t.word(uint64(r.Rows[i].Status))
		}
	case *store.Reported:
		for i := range r.Rows {
			t.word(uint64(r.Rows[i].Status))
		}
	case *store.Swept:
		t.word(uint64(len(r.Disposed)))
	case *store.Enqueued:
		t.word(uint64(r.Rows[0].Status))
	case *store.Done:
		t.word(uint64(r.Result))
	}
}

// Line is one thing that a person wants to read of a run.
type Line struct {
	At   time.Duration // true time since the start of the world
	Who  string        // a node, "store", "client", "operator"
	Text string
}

func (w *world) say(who, format string, args ...any) {
	if w.story != nil {
		w.story(Line{At: time.Duration(w.now), Who: who, Text: fmt.Sprintf(format, args...)})
	}
}

func (w *world) tell(n *node, format string, args ...any) { w.say(n.spec.Name, format, args...) }

func (w *world) tellPump(h *host, format string, args ...any) {
	if w.story == nil {
		return
	}
	who := h.n.spec.Name
	if len(h.n.slots) > 1 {
		who = fmt.Sprintf("%s/%s/%d", who, h.group.name, h.n.slots[h.slot].pump)
	}
	w.say(who, format, args...)
}

// key names a lease as the scenario does.
func (w *world) key(k store.LeaseKey) string {
	if j, ok := w.byID[k.Job]; ok {
		return fmt.Sprintf("%s#%d", w.jobs[j].name, k.Attempt)
	}
	return k.String()
}

func (w *world) tellRenewed(h *host, req *store.Renew, r *store.Renewed) {
	for i := range r.Rows {
		j := &w.jobs[w.byID[req.Rows[i].Key.Job]]
		switch r.Rows[i].Status {
		case store.RenewOK:
			j.renews++
			if w.story != nil {
				w.tellPump(h, "renews %s until %s", w.key(req.Rows[i].Key), clockOf(r.Rows[i].ExpiresAt))
			}
		case store.RenewLost:
			w.seen.reach(sawLost)
			if w.story != nil {
				w.tellPump(h, "is refused the renewal of %s: the lease is lost", w.key(req.Rows[i].Key))
			}
		case store.RenewBusy:
			w.seen.reach(sawBusyRenewal)
		}
	}
}

func (w *world) tellReported(h *host, req *store.Report, r *store.Reported) {
	for i := range r.Rows {
		j := &w.jobs[w.byID[req.Rows[i].Key.Job]]
		switch r.Rows[i].Status {
		case store.ReportStale:
			j.fenced++
			w.seen.reach(sawStale)
		case store.ReportAlready:
			w.seen.reach(sawAlready)
		case store.ReportBusy:
			w.seen.reach(sawBusyReport)
		case store.ReportRejected:
			w.seen.reach(sawRejected)
		case store.ReportApplied:
		}
		if w.story != nil {
			w.tellPump(h, "is answered for the %s of %s: %s", req.Rows[i].Outcome.Kind(), w.key(req.Rows[i].Key), r.Rows[i].Status)
		}
	}
}
