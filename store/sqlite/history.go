package sqlite

import (
	"encoding/json"
	"strconv"
	"time"

	"backwave/store"
)

// end is a store.End as the column ends keeps it: JSON, so that a person can
// read it, with the times in microseconds.
type end struct {
	Attempt int           `json:"attempt"`
	Claim   uint64        `json:"claim"`
	Worker  string        `json:"worker"`
	Kind    store.EndKind `json:"kind"`
	To      store.State   `json:"to"`
	At      store.Instant `json:"at"`
	Due     store.Instant `json:"due"`
	Lease   int64         `json:"lease"`
	Error   string        `json:"error,omitempty"`
}

// encodeEnds returns nil for no ends.
func encodeEnds(ends []store.End) (any, error) {
	if len(ends) == 0 {
		return nil, nil
	}
	b := make([]byte, 0, 160*len(ends))
	for i := range ends {
		e := &ends[i]
		if e.Error != "" || !plain(e.Worker) {
			return encodeSlowly(ends)
		}
		b = append(b, "[,"[min(i, 1)])
		b = strconv.AppendInt(append(b, `{"attempt":`...), int64(e.Attempt), 10)
		b = strconv.AppendUint(append(b, `,"claim":`...), e.Claim, 10)
		b = append(append(b, `,"worker":"`...), e.Worker...)
		b = append(append(b, `","kind":"`...), e.Kind.String()...)
		b = append(append(b, `","to":"`...), e.To.String()...)
		b = strconv.AppendInt(append(b, `","at":`...), int64(e.At), 10)
		b = strconv.AppendInt(append(b, `,"due":`...), int64(e.Due), 10)
		b = strconv.AppendInt(append(b, `,"lease":`...), e.Lease.Microseconds(), 10)
		b = append(b, '}')
	}
	return append(b, ']'), nil
}

// plain reports whether s needs no quoting.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' || s[i] == '"' || s[i] == '\\' {
			return false
		}
	}
	return true
}

func encodeSlowly(ends []store.End) (any, error) {
	out := make([]end, len(ends))
	for i, e := range ends {
		out[i] = end{e.Attempt, e.Claim, e.Worker, e.Kind, e.To, e.At, e.Due, e.Lease.Microseconds(), e.Error}
	}
	return json.Marshal(out)
}

func decodeEnds(b []byte) ([]store.End, error) {
	if len(b) == 0 {
		return nil, nil
	}
	var in []end
	if err := json.Unmarshal(b, &in); err != nil {
		return nil, err
	}
	out := make([]store.End, len(in))
	for i, e := range in {
		out[i] = store.End{Attempt: e.Attempt, Claim: e.Claim, Worker: e.Worker, Kind: e.Kind, To: e.To, At: e.At, Due: e.Due, Lease: time.Duration(e.Lease) * time.Microsecond, Error: e.Error}
	}
	return out, nil
}
