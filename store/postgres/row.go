package postgres

import (
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"backwave/store"
)

// jobColumns and doneColumns are one shape, so that a job reads the same from
// either table. The rows need their worker w and their queue q joined.
const (
	jobColumns = `j.id, j.seq, j.due, coalesce(j.enq_at, j.due) as enq_at, j.lease_until, j.lease_for, j.claim, w.name, coalesce(j.attempt, 0) as attempt, q.name, j.base, j.unknown, j.max_attempts, j.cancel,
		j.terms, j.name, j.ukey, j.hist, j.progress, j.payload, null::bigint as fin_at, null::smallint as state, null::smallint as kind, null::text as err, null::bytea as output`
	doneColumns = `j.id, coalesce(j.seq, 0) as seq, coalesce(j.due, 0) as due, j.enq_at, j.lease_until, j.lease_for, j.claim, w.name, j.attempt, q.name, j.base, j.unknown, j.max_attempts, j.cancel,
		j.terms, j.name, j.ukey, j.hist, j.progress, j.payload, j.fin_at, j.state, j.kind, j.err, j.output`
	named = ` join {s}.queue q on q.qid = j.qid left join {s}.worker w on w.wid = j.worker`
)

// row is a job as it was read, and what is needed to write it back.
type row struct {
	store.Job
	done    bool   // it is in the table of the finished
	waits   bool   // it is in the hot table and not leased
	lost    []byte // a history that could not be read
	payload []byte // as stored
}

// scanRow reads one row of either shape, and then into more.
func scanRow(rows pgx.Rows, more ...any) (*row, error) {
	var (
		r                               row
		until, leaseFor, claim, fin     *int64
		worker, ukey, errText           *string
		base, unknown, most, state, end *int32
		cancel                          *bool
		terms, hist                     []byte
	)
	j := &r.Job
	into := []any{
		(*[16]byte)(&j.ID), &j.Seq, &j.Due, &j.Enqueued, &until, &leaseFor, &claim, &worker, &j.Attempt, &j.Queue, &base, &unknown, &most, &cancel,
		&terms, &j.Name, &ukey, &hist, &j.Progress, &r.payload, &fin, &state, &end, &errText, &j.Output,
	}
	if err := rows.Scan(append(into, more...)...); err != nil {
		return nil, err
	}
	j.Base, j.UnknownNames, j.MaxAttempts = int(or0(base)), int(or0(unknown)), int(or0(most))
	j.CancelRequested = cancel != nil && *cancel
	j.Worker, j.UniqueKey, j.Claim = or0(worker), or0(ukey), uint64(or0(claim))
	j.LeaseUntil, j.LeaseFor = store.Instant(or0(until)), time.Duration(or0(leaseFor))*time.Microsecond
	j.Finished = store.Instant(or0(fin))
	r.done = state != nil
	r.waits = !r.done && until == nil
	switch {
	case r.done:
		j.State = store.State(*state)
	case r.waits:
		j.State = store.Scheduled
	default:
		j.State = store.Executing
	}
	j.Payload, j.Damage = unpackPayload(r.payload)
	if err := unpackTerms(terms, j); err != nil {
		j.Damage = firstOf(j.Damage, err.Error())
	}
	r.readHistory(hist, until == nil, end, or0(errText))
	if j.State == store.Succeeded && until == nil {
		j.LeaseUntil = 0 // not kept; the history has that of an earlier lease
	}
	return &r, nil
}

// readHistory puts the ends together: the earlier ones from the history, the
// last one of a finished job from its columns.
func (r *row) readHistory(hist []byte, untilThere bool, end *int32, errText string) {
	j := &r.Job
	h, err := unpackHistory(hist)
	if err != nil {
		h = history{lost: hist}
	}
	if len(h.lost) > 0 {
		r.lost = h.lost
		j.Damage = firstOf(j.Damage, errHistory.Error())
		if err != nil && j.State != store.Executing {
			h.cut = j.Attempt
		} else if err != nil {
			h.cut = j.Attempt - 1
		}
	}
	if j.Damage != "" {
		j.Payload = nil
	}
	if untilThere {
		j.LeaseUntil = h.until
	}
	j.Ends, j.EndsCut, j.LastErr = h.ends, h.cut, h.last
	if end != nil {
		j.Ends = append(j.Ends, store.End{
			Attempt: j.Attempt, Claim: j.Claim, Worker: j.Worker, Kind: store.EndKind(*end), To: j.State,
			At: j.Finished, Lease: j.LeaseFor, Error: errText,
		})
		if err != nil {
			j.EndsCut--
		}
	}
	for i := range j.Ends {
		if speaks(j.Ends[i].Kind) {
			j.LastErr = j.Ends[i].Error
		}
	}
	if end != nil {
		trimEnds(j)
	}
}

// speaks reports whether an end of that kind sets the job's last failure text.
func speaks(k store.EndKind) bool {
	return k == store.EndFailure || k == store.EndDiscard || k == store.EndUndecodable
}

// keptEnds is the length to which a history is cut (X9). A success recorded by
// one statement cannot cut; whoever reads it does.
const keptEnds = 32

func trimEnds(j *store.Job) {
	n := 0
	for len(j.Ends)-n > keptEnds && j.Finished.Sub(j.Ends[n].At) >= 2*j.Ends[n].Lease {
		n++
	}
	j.Ends = j.Ends[n:]
	j.EndsCut += n
}

// packHistory is what of the job has no column: the given ends, and, where the
// row will have no lease, the end of its last one.
func (r *row) packHistory(ends []store.End, until store.Instant) []byte {
	h := history{cut: r.EndsCut, until: until, lost: r.lost, ends: ends}
	spoken := false
	for i := range r.Ends {
		spoken = spoken || speaks(r.Ends[i].Kind)
	}
	if !spoken {
		h.last = r.LastErr
	}
	return h.pack()
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func or0[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// orNull is nil for the zero value, which the rarely used columns keep as null.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func uuids[T any](rows []T, id func(*T) store.JobID) []pgtype.UUID {
	out := make([]pgtype.UUID, len(rows))
	for i := range rows {
		out[i] = pgtype.UUID{Bytes: id(&rows[i]), Valid: true}
	}
	return out
}
