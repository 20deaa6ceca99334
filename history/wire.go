package history

import (
	"errors"
	"time"

	"backwave/store"
)

// The form of a line. Names and order are part of the format and do not follow
// the Go types: a renamed field must not change a file. Times of records and
// durations are nanoseconds, instants of the store microseconds.

type wireHeader struct {
	Version int `json:"backwave_history"`
}

type wireRecord struct {
	Seq      uint64       `json:"seq"`
	At       int64        `json:"at_ns"`
	Call     uint64       `json:"call,omitempty"`
	Sent     *wireRequest `json:"sent,omitempty"`
	Answered *wireReply   `json:"answered,omitempty"`
	Failed   *wireFailure `json:"failed,omitempty"`
	Applied  *wireReply   `json:"applied,omitempty"`
	Lost     *struct{}    `json:"lost,omitempty"`
	Doubled  *struct{}    `json:"doubled,omitempty"`
	Forgot   *wireForgot  `json:"forgot,omitempty"`
	Stepped  *wireStepped `json:"stepped,omitempty"`
}

type wireFailure struct {
	Fault   string `json:"fault"`
	Refused bool   `json:"refused,omitempty"`
	Err     string `json:"error"`
}

type wireForgot struct {
	To uint64 `json:"to"`
}

type wireStepped struct {
	High store.Instant `json:"high_us"`
}

type wireKey struct {
	Job     store.JobID `json:"job"`
	Attempt int         `json:"attempt"`
	Claim   uint64      `json:"claim"`
}

func toKey(k store.LeaseKey) wireKey { return wireKey{k.Job, k.Attempt, k.Claim} }
func fromKey(k wireKey) store.LeaseKey {
	return store.LeaseKey{Job: k.Job, Attempt: k.Attempt, Claim: k.Claim}
}

// errOneOf says that a sum has no member or more than one.
var errOneOf = errors.New("want exactly one kind")

func toRecord(r *Record) wireRecord {
	w := wireRecord{Seq: r.Seq, At: r.At, Call: r.Call}
	switch r.Kind {
	case Sent:
		w.Sent = toRequest(r.Client, r.Req)
	case Answered:
		w.Answered = toReply(r.Reply)
	case Failed:
		w.Failed = &wireFailure{r.Fault.String(), r.Refused, r.Err}
	case Applied:
		w.Applied = toReply(r.Reply)
	case Lost:
		w.Lost = &struct{}{}
	case Doubled:
		w.Doubled = &struct{}{}
	case Forgot:
		w.Forgot = &wireForgot{r.To}
	case Stepped:
		w.Stepped = &wireStepped{r.High}
	}
	return w
}

func fromRecord(w *wireRecord) (r Record, err error) {
	r = Record{Seq: w.Seq, At: w.At, Call: w.Call}
	n := 0
	if w.Sent != nil {
		n, r.Kind, r.Client = n+1, Sent, w.Sent.Client
		r.Req, err = fromRequest(w.Sent)
	}
	if w.Answered != nil {
		n, r.Kind = n+1, Answered
		r.Reply, err = fromReply(w.Answered)
	}
	if w.Failed != nil {
		n, r.Kind, r.Refused, r.Err = n+1, Failed, w.Failed.Refused, w.Failed.Err
		r.Fault, err = store.ParseFault(w.Failed.Fault)
	}
	if w.Applied != nil {
		n, r.Kind = n+1, Applied
		r.Reply, err = fromReply(w.Applied)
	}
	if w.Lost != nil {
		n, r.Kind = n+1, Lost
	}
	if w.Doubled != nil {
		n, r.Kind = n+1, Doubled
	}
	if w.Forgot != nil {
		n, r.Kind, r.To = n+1, Forgot, w.Forgot.To
	}
	if w.Stepped != nil {
		n, r.Kind, r.High = n+1, Stepped, w.Stepped.High
	}
	if n != 1 {
		err = errOneOf
	}
	return r, err
}

type wireTerms struct {
	Default wirePolicy  `json:"default"`
	ByName  []wireNamed `json:"by_name,omitempty"`
}

type wireNamed struct {
	Name   string     `json:"name"`
	Policy wirePolicy `json:"policy"`
}

type wirePolicy struct {
	MaxAttempts int           `json:"max_attempts,omitempty"`
	First       time.Duration `json:"first_ns,omitempty"`
	Factor      int           `json:"factor,omitempty"`
	Cap         time.Duration `json:"cap_ns,omitempty"`
	Jitter      int           `json:"jitter,omitempty"`
	NoJitter    bool          `json:"no_jitter,omitempty"`
}

func toTerms(t *store.Terms) *wireTerms {
	if t == nil {
		return nil
	}
	w := &wireTerms{Default: wirePolicy(t.Default)}
	for _, n := range t.ByName {
		w.ByName = append(w.ByName, wireNamed{n.Name, wirePolicy(n.Policy)})
	}
	return w
}

func fromTerms(w *wireTerms) *store.Terms {
	if w == nil {
		return nil
	}
	t := &store.Terms{Default: store.Policy(w.Default)}
	for _, n := range w.ByName {
		t.ByName = append(t.ByName, store.NamedPolicy{Name: n.Name, Policy: store.Policy(n.Policy)})
	}
	return t
}
