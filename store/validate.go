package store

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds on the numbers of a policy, which every store can keep and compute
// with.
const (
	MaxCeiling = 1_000_000 // attempts, of a policy or a job
	MaxFactor  = 1_000     // of a policy
	MaxJitter  = 50        // percent
)

// Validate reports the first thing about req that no store accepts, as a
// *BoundError or an *InvalidError, or nil. Every store calls it before it
// writes anything, so that a refused request has carried out nothing. Rows may
// be absent. It allocates nothing for a valid Claim, Renew or Sweep of fewer
// than 32 rows.
//
// The output of a Success is not judged here: one output over its bound must
// not cost the other rows of its report, so stores answer ReportRejected.
func Validate(req Request) error {
	switch r := req.(type) {
	case *Claim:
		return r.validate()
	case *Renew:
		return r.validate()
	case *Report:
		return r.validate()
	case *Sweep:
		return r.validate()
	case *Enqueue:
		return r.validate()
	case *Do:
		return r.validate()
	}
	return &InvalidError{"request", "is nil"}
}

func (r *Claim) validate() error {
	if err := checkName("worker", -1, r.Worker, true); err != nil {
		return err
	}
	if r.Number == 0 {
		return &InvalidError{"claim number", "is 0, want at least 1"}
	}
	if err := checkMax("max of claim", r.Max); err != nil {
		return err
	}
	if err := checkLease(r.Lease); err != nil {
		return err
	}
	if len(r.Queues) == 0 {
		return &InvalidError{"claim", "lists no queue"}
	}
	if err := checkRows("claim", len(r.Queues)); err != nil {
		return err
	}
	for i := range r.Queues {
		if err := checkName("queue", i, r.Queues[i].Queue, true); err != nil {
			return err
		}
		if r.Queues[i].Most < 0 {
			return &InvalidError{"quota of " + at("queue", i), fmt.Sprintf("is %d, want at least 0", r.Queues[i].Most)}
		}
	}
	if i := repeated(r.Queues, quotaQueue); i >= 0 {
		return &InvalidError{at("queue", i), fmt.Sprintf("%q is listed twice", r.Queues[i].Queue)}
	}
	return r.Terms.validate()
}

func (r *Renew) validate() error {
	if err := checkName("worker", -1, r.Worker, true); err != nil {
		return err
	}
	if err := checkLease(r.Lease); err != nil {
		return err
	}
	if err := checkRows("renewal", len(r.Rows)); err != nil {
		return err
	}
	for i := range r.Rows {
		if n := len(r.Rows[i].Progress); n > MaxProgress {
			return &BoundError{at("progress of row", i), int64(n), MaxProgress, "bytes"}
		}
	}
	if i := repeated(r.Rows, renewKey); i >= 0 {
		return &InvalidError{at("row", i), fmt.Sprintf("names lease %v a second time", r.Rows[i].Key)}
	}
	return nil
}

func (r *Report) validate() error {
	if err := checkName("worker", -1, r.Worker, true); err != nil {
		return err
	}
	if err := checkRows("report", len(r.Rows)); err != nil {
		return err
	}
	for i := range r.Rows {
		switch o := r.Rows[i].Outcome.(type) {
		case Success, Failure, Discard, Snooze, Released, UnknownName, Undecodable:
		default: // nil, or a pointer to one of them: stores switch on the values
			return &InvalidError{at("outcome of row", i), fmt.Sprintf("is a %T, want one of the outcomes by value", o)}
		}
	}
	if i := repeated(r.Rows, reportKey); i >= 0 {
		return &InvalidError{at("row", i), fmt.Sprintf("names lease %v a second time", r.Rows[i].Key)}
	}
	return nil
}

func (r *Sweep) validate() error {
	if err := checkMax("max of sweep", r.Max); err != nil {
		return err
	}
	if len(r.Queues) == 0 && !r.Any {
		return &InvalidError{"sweep", "lists no queue"}
	}
	if err := checkRows("sweep", len(r.Queues)); err != nil {
		return err
	}
	for i, q := range r.Queues {
		if err := checkName("queue", i, q, true); err != nil {
			return err
		}
	}
	if i := repeated(r.Queues, queueItself); i >= 0 {
		return &InvalidError{at("queue", i), fmt.Sprintf("%q is listed twice", r.Queues[i])}
	}
	return nil
}

func (r *Enqueue) validate() error {
	if err := checkRows("enqueue", len(r.Jobs)); err != nil {
		return err
	}
	for i := range r.Jobs {
		j := &r.Jobs[i]
		if j.ID.IsZero() {
			return &InvalidError{at("id of job", i), "is zero"}
		}
		if err := checkName("name of job", i, j.Name, true); err != nil {
			return err
		}
		if err := checkName("queue of job", i, j.Queue, true); err != nil {
			return err
		}
		if err := checkName("unique key of job", i, j.UniqueKey, false); err != nil {
			return err
		}
		if n := len(j.Payload); n > MaxPayload {
			return &BoundError{at("payload of job", i), int64(n), MaxPayload, "bytes"}
		}
		if err := checkCeiling("max attempts of job", i, j.MaxAttempts); err != nil {
			return err
		}
	}
	return nil
}

func (r *Do) validate() error {
	if err := checkName("actor", -1, r.Actor, true); err != nil {
		return err
	}
	if err := checkName("request id", -1, r.RequestID, true); err != nil {
		return err
	}
	switch c := r.Command.(type) {
	case Cancel, Requeue:
		return nil
	case Pause:
		return checkName("queue", -1, c.Queue, true)
	case Resume:
		return checkName("queue", -1, c.Queue, true)
	default: // nil, or a pointer to one of them: stores switch on the values
		return &InvalidError{"command", fmt.Sprintf("is a %T, want one of the commands by value", c)}
	}
}

// validate accepts nil, which means the default policy for every name.
func (t *Terms) validate() error {
	if t == nil {
		return nil
	}
	if err := t.Default.validate("default policy", -1); err != nil {
		return err
	}
	if err := checkRows("terms", len(t.ByName)); err != nil {
		return err
	}
	for i := range t.ByName {
		if err := t.ByName[i].Policy.validate("policy", i); err != nil {
			return err
		}
	}
	return nil
}

// validate keeps the arithmetic of Delay within its range.
func (p *Policy) validate(what string, i int) error {
	if p.MaxAttempts < 0 || p.MaxAttempts > MaxCeiling {
		return checkCeiling("max attempts of "+what, i, p.MaxAttempts)
	}
	bad := ""
	switch {
	case p.First < 0 || p.First > MaxDuration:
		bad = fmt.Sprintf("has first delay %v, want 0 to %v", p.First, MaxDuration)
	case p.Cap < 0 || p.Cap > MaxDuration:
		bad = fmt.Sprintf("has cap %v, want 0 to %v", p.Cap, MaxDuration)
	case p.Factor < 0 || p.Factor > MaxFactor:
		bad = fmt.Sprintf("has factor %d, want 0 to %d", p.Factor, MaxFactor)
	case p.Jitter < 0 || p.Jitter > MaxJitter:
		bad = fmt.Sprintf("has jitter %d %%, want 0 to %d %%", p.Jitter, MaxJitter)
	default:
		return nil
	}
	return &InvalidError{at(what, i), bad}
}

func checkName(what string, i int, s string, required bool) error {
	switch {
	case s == "" && required:
		return &InvalidError{at(what, i), "is empty"}
	case len(s) > MaxName:
		return &BoundError{at(what, i), int64(len(s)), MaxName, "bytes"}
	case strings.IndexByte(s, 0) >= 0:
		return &InvalidError{at(what, i), fmt.Sprintf("%q contains a NUL byte", s)}
	case !utf8.ValidString(s):
		return &InvalidError{at(what, i), fmt.Sprintf("%q is not UTF-8", s)}
	}
	return nil
}

func checkMax(what string, n int) error {
	if n < 1 {
		return &InvalidError{what, fmt.Sprintf("is %d, want at least 1", n)}
	}
	if n > MaxBatch {
		return &BoundError{what, int64(n), MaxBatch, "rows"}
	}
	return nil
}

func checkRows(what string, n int) error {
	if n > MaxBatch {
		return &BoundError{what, int64(n), MaxBatch, "rows"}
	}
	return nil
}

func checkCeiling(what string, i, n int) error {
	if n < 0 {
		return &InvalidError{at(what, i), fmt.Sprintf("is %d, want at least 0", n)}
	}
	if n > MaxCeiling {
		return &BoundError{at(what, i), int64(n), MaxCeiling, "attempts"}
	}
	return nil
}

func checkLease(d time.Duration) error {
	if d < MinLease || d > MaxDuration {
		return &InvalidError{"lease", fmt.Sprintf("is %v, want %v to %v", d, MinLease, MaxDuration)}
	}
	return nil
}

// at names one row of a request; i < 0 is for what there is only one of.
func at(what string, i int) string {
	if i < 0 {
		return what
	}
	return fmt.Sprintf("%s %d", what, i)
}

func quotaQueue(q *Quota) string      { return q.Queue }
func queueItself(q *string) string    { return *q }
func renewKey(r *RenewRow) LeaseKey   { return r.Key }
func reportKey(r *ReportRow) LeaseKey { return r.Key }

// repeated returns the index of the first row whose key an earlier row has, or
// -1. Few rows are compared one by one, since a map would cost an allocation
// in every call of an idle pump.
func repeated[R any, K comparable](rows []R, key func(*R) K) int {
	if len(rows) < 32 {
		for i := 1; i < len(rows); i++ {
			for j := range i {
				if key(&rows[i]) == key(&rows[j]) {
					return i
				}
			}
		}
		return -1
	}
	seen := make(map[K]struct{}, len(rows))
	for i := range rows {
		if _, ok := seen[key(&rows[i])]; ok {
			return i
		}
		seen[key(&rows[i])] = struct{}{}
	}
	return -1
}
