package history

import (
	"time"

	"backwave/store"
)

type wireReply struct {
	Claimed  *wireClaimed  `json:"claimed,omitempty"`
	Renewed  *wireRenewed  `json:"renewed,omitempty"`
	Reported *wireReported `json:"reported,omitempty"`
	Swept    *wireSwept    `json:"swept,omitempty"`
	Enqueued *wireEnqueued `json:"enqueued,omitempty"`
	Done     *wireDone     `json:"done,omitempty"`
}

type wireClaimed struct {
	At      store.Instant `json:"at_us"`
	Leases  []wireLease   `json:"leases"`
	HasNext bool          `json:"has_next,omitempty"`
	Next    time.Duration `json:"next_ns,omitempty"`
}

type wireLease struct {
	wireKey
	Name      string        `json:"name"`
	Queue     string        `json:"queue"`
	Payload   []byte        `json:"payload"`
	Damage    string        `json:"damage,omitempty"`
	Base      int           `json:"base,omitempty"`
	ExpiresAt store.Instant `json:"expires_at_us"`
}

type wireRenewed struct {
	At   store.Instant     `json:"at_us"`
	Rows []wireRenewAnswer `json:"rows"`
}

type wireRenewAnswer struct {
	Status    store.RenewStatus `json:"status"`
	Cancel    bool              `json:"cancel,omitempty"`
	ExpiresAt store.Instant     `json:"expires_at_us,omitempty"`
}

type wireReported struct {
	At   store.Instant      `json:"at_us"`
	Rows []wireReportAnswer `json:"rows"`
}

type wireReportAnswer struct {
	Status  store.ReportStatus `json:"status"`
	Already store.EndKind      `json:"already,omitempty"`
	To      store.State        `json:"to,omitempty"`
	Reason  string             `json:"reason,omitempty"`
}

type wireSwept struct {
	At       store.Instant `json:"at_us"`
	Disposed []wireLapse   `json:"disposed"`
}

type wireLapse struct {
	wireKey
	Worker    string        `json:"worker"`
	Queue     string        `json:"queue"`
	ExpiredAt store.Instant `json:"expired_at_us"`
	To        store.State   `json:"to"`
}

type wireEnqueued struct {
	At   store.Instant       `json:"at_us"`
	Rows []wireEnqueueAnswer `json:"rows"`
}

type wireEnqueueAnswer struct {
	Status store.EnqueueStatus `json:"status"`
	Holder *store.JobID        `json:"holder,omitempty"`
}

type wireDone struct {
	At     store.Instant  `json:"at_us"`
	Result store.DoResult `json:"result"`
	Repeat bool           `json:"repeat,omitempty"`
}

func toReply(reply store.Reply) *wireReply {
	w := &wireReply{}
	switch p := reply.(type) {
	case *store.Claimed:
		w.Claimed = &wireClaimed{p.At, each(p.Leases, func(l store.Lease) wireLease {
			return wireLease{toKey(l.Key), l.Name, l.Queue, l.Payload, l.Damage, l.Base, l.ExpiresAt}
		}), p.HasNext, p.Next}
	case *store.Renewed:
		w.Renewed = &wireRenewed{p.At, each(p.Rows, func(a store.RenewAnswer) wireRenewAnswer { return wireRenewAnswer(a) })}
	case *store.Reported:
		w.Reported = &wireReported{p.At, each(p.Rows, func(a store.ReportAnswer) wireReportAnswer { return wireReportAnswer(a) })}
	case *store.Swept:
		w.Swept = &wireSwept{p.At, each(p.Disposed, func(l store.Lapse) wireLapse {
			return wireLapse{toKey(l.Key), l.Worker, l.Queue, l.ExpiredAt, l.To}
		})}
	case *store.Enqueued:
		w.Enqueued = &wireEnqueued{p.At, each(p.Rows, func(a store.EnqueueAnswer) wireEnqueueAnswer {
			if a.Holder.IsZero() {
				return wireEnqueueAnswer{Status: a.Status}
			}
			return wireEnqueueAnswer{a.Status, &a.Holder}
		})}
	case *store.Done:
		w.Done = &wireDone{p.At, p.Result, p.Repeat}
	}
	return w
}

func fromReply(w *wireReply) (reply store.Reply, err error) {
	n := 0
	if p := w.Claimed; p != nil {
		n++
		reply = &store.Claimed{At: p.At, HasNext: p.HasNext, Next: p.Next, Leases: each(p.Leases, func(l wireLease) store.Lease {
			return store.Lease{Key: fromKey(l.wireKey), Name: l.Name, Queue: l.Queue, Payload: l.Payload, Damage: l.Damage, Base: l.Base, ExpiresAt: l.ExpiresAt}
		})}
	}
	if p := w.Renewed; p != nil {
		n++
		reply = &store.Renewed{At: p.At, Rows: each(p.Rows, func(a wireRenewAnswer) store.RenewAnswer { return store.RenewAnswer(a) })}
	}
	if p := w.Reported; p != nil {
		n++
		reply = &store.Reported{At: p.At, Rows: each(p.Rows, func(a wireReportAnswer) store.ReportAnswer { return store.ReportAnswer(a) })}
	}
	if p := w.Swept; p != nil {
		n++
		reply = &store.Swept{At: p.At, Disposed: each(p.Disposed, func(l wireLapse) store.Lapse {
			return store.Lapse{Key: fromKey(l.wireKey), Worker: l.Worker, Queue: l.Queue, ExpiredAt: l.ExpiredAt, To: l.To}
		})}
	}
	if p := w.Enqueued; p != nil {
		n++
		reply = &store.Enqueued{At: p.At, Rows: each(p.Rows, func(a wireEnqueueAnswer) store.EnqueueAnswer {
			if a.Holder == nil {
				return store.EnqueueAnswer{Status: a.Status}
			}
			return store.EnqueueAnswer{Status: a.Status, Holder: *a.Holder}
		})}
	}
	if p := w.Done; p != nil {
		n++
		reply = &store.Done{At: p.At, Result: p.Result, Repeat: p.Repeat}
	}
	if n != 1 {
		return nil, errOneOf
	}
	return reply, nil
}
