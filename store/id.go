package store

import (
	"encoding/binary"
	"fmt"

	"github.com/google/uuid"
)

// JobID identifies a job for all time. Clients make it, before the first send,
// so that an enqueue whose reply was lost can be repeated.
type JobID [16]byte

// NewJobID builds a UUID of version 7 from a wall-clock reading in
// milliseconds and 74 random bits out of hi and lo. Both come from the caller,
// so that ids are as deterministic as their source.
func NewJobID(unixMilli int64, hi, lo uint64) (id JobID) {
	binary.BigEndian.PutUint64(id[:8], uint64(unixMilli)<<16|0x7000|hi&0x0fff)
	binary.BigEndian.PutUint64(id[8:], 0x8000000000000000|lo&0x3fffffffffffffff)
	return id
}

// ParseJobID reads the usual text form of a UUID, of any version.
func ParseJobID(s string) (JobID, error) {
	u, err := uuid.Parse(s)
	if err != nil {
		return JobID{}, fmt.Errorf("store: job id %q: want a UUID such as 01890a5d-ac96-774b-bcce-b302099a8057", s)
	}
	return JobID(u), nil
}

// String prints id in the usual text form.
func (id JobID) String() string { return uuid.UUID(id).String() }

// IsZero reports whether id is the zero value, which names no job.
func (id JobID) IsZero() bool { return id == JobID{} }

// Compare orders ids by their bytes, which for ids of version 7 is by age.
func (id JobID) Compare(other JobID) int {
	a, b := binary.BigEndian.Uint64(id[:8]), binary.BigEndian.Uint64(other[:8])
	if a == b {
		a, b = binary.BigEndian.Uint64(id[8:]), binary.BigEndian.Uint64(other[8:])
	}
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// MarshalText implements encoding.TextMarshaler.
func (id JobID) MarshalText() ([]byte, error) { return uuid.UUID(id).MarshalText() }

// UnmarshalText implements encoding.TextUnmarshaler.
func (id *JobID) UnmarshalText(b []byte) (err error) {
	*id, err = ParseJobID(string(b))
	return err
}

// Token names one attempt of one job. It grows with every attempt and is what
// outside systems may use as a fencing token.
type Token struct {
	Job     JobID
	Attempt int
}

// String prints t as job#attempt.
func (t Token) String() string { return fmt.Sprintf("%v#%d", t.Job, t.Attempt) }

// LeaseKey names one lease of one worker: everything in flight is keyed by it.
// The claim number tells two leases apart that a store which lost its last
// commits granted under the same token.
type LeaseKey struct {
	Job     JobID
	Attempt int
	Claim   uint64 // the number of the claim call that took the lease
}

// Token returns the part of k that outlives the worker.
func (k LeaseKey) Token() Token { return Token{k.Job, k.Attempt} }

// Compare orders keys by claim number, job, attempt.
func (k LeaseKey) Compare(o LeaseKey) int {
	switch {
	case k.Claim < o.Claim:
		return -1
	case k.Claim > o.Claim:
		return 1
	}
	if c := k.Job.Compare(o.Job); c != 0 {
		return c
	}
	return k.Attempt - o.Attempt
}

// String prints k as job#attempt@claim.
func (k LeaseKey) String() string { return fmt.Sprintf("%v#%d@%d", k.Job, k.Attempt, k.Claim) }
