package storetest

import (
	"errors"
	"strings"

	"backwave/store"
)

// heldOver ends a case: what follows speaks of rows that are free while one is
// held.
type heldOver struct{}

func endOfHeld() {
	if end := recover(); end != nil && end != (heldOver{}) {
		panic(end)
	}
}

// heldAsAWhole proves what the rules about held rows come to in a store that
// is locked as a whole (A2), with the rows as the case has set them up, and
// ends the case.
func (f *fixture) heldAsAWhole(id store.JobID) {
	f.Helper()
	var jobs []store.JobID
	for _, j := range f.images {
		jobs = append(jobs, j.ID)
	}
	key := store.LeaseKey{Job: id, Attempt: 1, Claim: 1}
	fresh := f.id()
	calls := map[string]func() error{
		"claim": func() error {
			_, err := f.h.Store.Claim(f.ctx, &store.Claim{Worker: "late", Number: 1, Queues: queues("q"), Max: 9, Lease: minute})
			return err
		},
		"renew": func() error {
			_, err := f.h.Store.Renew(f.ctx, &store.Renew{Worker: "w", Lease: 9 * minute, Rows: []store.RenewRow{{Key: key}}})
			return err
		},
		"report": func() error {
			_, err := f.h.Store.Report(f.ctx, &store.Report{Worker: "w", Rows: []store.ReportRow{{Key: key, Outcome: store.Discard{}}}})
			return err
		},
		"sweep": func() error {
			_, err := f.h.Store.Sweep(f.ctx, &store.Sweep{Any: true, Max: 9})
			return err
		},
		"enqueue": func() error {
			_, err := f.h.Store.Enqueue(f.ctx, &store.Enqueue{Jobs: []store.NewJob{{ID: fresh, Name: "work", Queue: "q"}}})
			return err
		},
		"do": func() error {
			_, err := f.h.Store.Do(f.ctx, &store.Do{Actor: "ann", RequestID: "held", Command: store.Cancel{Job: id, Force: true}})
			return err
		},
	}
	release := f.h.Hold(id)
	f.unchanged(func() {
		for name, call := range calls {
			if err := call(); store.FaultOf(err) != store.FaultBusy {
				f.Errorf("%s of a held store answers %v, want a *store.TransientError of FaultBusy", name, err)
			}
		}
		_, err := f.h.Store.Job(f.ctx, fresh)
		f.want(errors.Is(err, store.ErrNotFound), true)
	}, jobs...)
	release()
	for name, call := range calls {
		if err := call(); err != nil {
			f.Errorf("%s after the store was released: %v", name, err)
		}
	}
	panic(heldOver{})
}

// says checks that a text holds a part.
func (f *fixture) says(text, part string) {
	f.Helper()
	if !strings.Contains(text, part) {
		f.Fatalf("%q does not hold %q", text, part)
	}
}
