package sqlite

import (
	"fmt"
	"strings"
	"time"

	"backwave/store"
)

// Columns of a job, in the order in which decode takes them: those that
// decisions need, then those that are the user's bytes.
const (
	columns = `j.seq, j.id, j.name, j.queue, j.max_attempts, j.unique_key, j.state, j.due, j.attempt, j.base,
		j.unknown_names, j.cancel_requested, j.worker, j.claim, j.lease_until, j.lease_for, j.ceiling, j.retry_delay,
		j.ends, j.ends_cut, j.last_err, j.enqueued, j.finished, j.damage`
)

// rowReader reads rows of columns, followed by some of the user's bytes.
type rowReader struct {
	values []any
	at     int
	damage string
}

// job reads one row. What cannot be read is left zero, and Damage says why: a
// row that somebody spoiled must not stop the rows beside it.
func (r *rowReader) job(row []any) store.Job {
	r.values = row
	r.at, r.damage = 0, ""
	var j store.Job
	j.Seq = uint64(r.int("seq"))
	r.id(&j)
	j.Name, j.Queue = r.text("name"), r.text("queue")
	j.MaxAttempts = int(r.int("max_attempts"))
	j.UniqueKey = r.text("unique_key")
	j.State, j.Due = store.State(r.int("state")), store.Instant(r.int("due"))
	j.Attempt, j.Base, j.UnknownNames = int(r.int("attempt")), int(r.int("base")), int(r.int("unknown_names"))
	j.CancelRequested = r.int("cancel_requested") != 0
	j.Worker, j.Claim = r.text("worker"), uint64(r.int("claim"))
	j.LeaseUntil, j.LeaseFor = store.Instant(r.int("lease_until")), r.span("lease_for")
	j.Ceiling, j.RetryDelay = int(r.int("ceiling")), r.span("retry_delay")
	ends := r.bytes("ends")
	j.EndsCut, j.LastErr = int(r.int("ends_cut")), r.text("last_err")
	j.Enqueued, j.Finished = store.Instant(r.int("enqueued")), store.Instant(r.int("finished"))
	r.history(&j, ends)
	return j
}

// waiting reads the little of a row that a claim needs.
func (r *rowReader) waiting(row []any) store.Job {
	r.values, r.at, r.damage = row, 0, ""
	var j store.Job
	j.Seq = uint64(r.int("seq"))
	r.id(&j)
	j.Name, j.MaxAttempts = r.text("name"), int(r.int("max_attempts"))
	j.Attempt, j.Base = int(r.int("attempt")), int(r.int("base"))
	r.history(&j, r.bytes("ends"))
	j.Payload = r.bytes("payload")
	return j
}

func (r *rowReader) id(j *store.Job) {
	id := r.bytes("id")
	if len(id) != len(j.ID) {
		r.spoiled("id has %d bytes, want 16", len(id))
	}
	copy(j.ID[:], id)
}

// history reads what has ended and, from the next column, the damage that was
// known before. It comes after all columns but the user's bytes.
func (r *rowReader) history(j *store.Job, ends []byte) {
	var err error
	if j.Ends, err = decodeEnds(ends); err != nil {
		r.spoiled("history %.60q cannot be read: %v", ends, err)
		j.EndsCut = j.Attempt // what it held is lost, and counts as dropped
		if j.State == store.Executing {
			j.EndsCut--
		}
	}
	if known := r.text("damage"); known != "" {
		r.damage = known
	}
	j.Damage = r.damage
}

func (r *rowReader) next() any {
	r.at++
	return r.values[r.at-1]
}

func (r *rowReader) int(column string) int64 {
	v := r.next()
	n, ok := v.(int64)
	if !ok {
		r.spoiled("%s is %.60q, want a number", column, fmt.Sprint(v))
	}
	return n
}

func (r *rowReader) span(column string) time.Duration { return span(r.int(column)) }

// span is a duration as it is stored.
func span(us int64) time.Duration { return time.Duration(us) * time.Microsecond }

// text reads NULL as "".
func (r *rowReader) text(column string) string {
	switch v := r.next().(type) {
	case string:
		return v
	case nil:
		return ""
	case []byte:
		r.spoiled("%s is the bytes %.60q, want text", column, v)
	default:
		r.spoiled("%s is %v, want text", column, v)
	}
	return ""
}

// bytes reads NULL as nil, and no bytes as not nil.
func (r *rowReader) bytes(column string) []byte {
	switch v := r.next().(type) {
	case []byte:
		if v == nil {
			return []byte{}
		}
		return v
	case nil:
		return nil
	case string: // as the sqlite3 command writes it
		return []byte(v)
	default:
		r.spoiled("%s is %v, want bytes", column, v)
	}
	return nil
}

// spoiled keeps the first thing that is wrong with a row.
func (r *rowReader) spoiled(format string, args ...any) {
	if r.damage == "" {
		r.damage = fmt.Sprintf(format, args...)
	}
}

// jobs reads jobs without the user's bytes.
func (s *session) jobs(where string, args ...any) (out []store.Job, err error) {
	var r rowReader
	err = s.each(func(row []any) error {
		out = append(out, r.job(row))
		return nil
	}, `SELECT `+columns+` FROM backwave_job j `+where, args...)
	return out, err
}

// withPayload reads jobs with their payloads.
func (s *session) withPayload(where string, args ...any) (out []store.Job, err error) {
	var r rowReader
	err = s.each(func(row []any) error {
		j := r.job(row)
		j.Payload = r.bytes("payload")
		out = append(out, j)
		return nil
	}, `SELECT `+columns+`, p.payload FROM backwave_job j LEFT JOIN backwave_payload p ON p.seq = j.seq `+where, args...)
	return out, err
}

// job reads one row, if it is there, without the user's bytes.
func (s *session) job(id store.JobID) (*store.Job, error) {
	out, err := s.jobs(byID[1], id[:])
	if err != nil || len(out) == 0 {
		return nil, err
	}
	return &out[0], nil
}

// byID are the conditions by which many rows are read at once. A list that is
// shorter than its statement repeats its last id.
var byID = map[int]string{1: idList(1), 10: idList(10), 100: idList(100)}

func idList(n int) string { return `WHERE j.id IN (` + strings.Repeat(`?, `, n-1) + `?)` }

// find reads the rows that are there of the n whose ids id tells. A row that
// is named twice is one job, so that the second answer sees what the first one
// did.
func (s *session) find(n int, id func(i int) store.JobID) (map[store.JobID]*store.Job, error) {
	out := make(map[store.JobID]*store.Job, n)
	for i := 0; i < n; {
		size := 100
		if n-i == 1 {
			size = 1
		} else if n-i <= 10 {
			size = 10
		}
		args := make([]any, size)
		for k := range args {
			next := id(min(i+k, n-1))
			args[k] = next[:]
		}
		jobs, err := s.jobs(byID[size], args...)
		if err != nil {
			return nil, err
		}
		for k := range jobs {
			out[jobs[k].ID] = &jobs[k]
		}
		i += size
	}
	return out, nil
}

// settle writes back all that the end of an attempt, a cancel or a requeue may
// change.
func (c *call) settle(j *store.Job) error {
	ends, err := encodeEnds(j.Ends)
	if err != nil {
		return err
	}
	if j.State == store.Succeeded && j.Damage == "" { // most ends, and they change little
		_, err = c.exec(`UPDATE backwave_job SET state = 4, ends = ?, ends_cut = ?, finished = ?, output = ? WHERE seq = ?`,
			ends, int64(j.EndsCut), int64(j.Finished), orNull(j.Output), int64(j.Seq))
		return err
	}
	var damage any // stays, though the history is mended by being written anew
	if j.Damage != "" {
		damage = j.Damage
	}
	_, err = c.exec(`UPDATE backwave_job SET state = ?, due = ?, base = ?, unknown_names = ?, cancel_requested = ?,
		ends = ?, ends_cut = ?, last_err = ?, finished = ?, output = coalesce(?, output), damage = ? WHERE seq = ?`,
		int64(j.State), int64(j.Due), int64(j.Base), int64(j.UnknownNames), j.CancelRequested,
		ends, int64(j.EndsCut), j.LastErr, int64(j.Finished), orNull(j.Output), damage, int64(j.Seq))
	if err != nil {
		return err
	}
	c.wakes(j)
	return nil
}

// asText reads a column that is text.
func asText(v any) string {
	r := rowReader{values: []any{v}}
	return r.text("")
}

// orNull keeps nil and no bytes apart.
func orNull(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}
