package postgres_test

import (
	"testing"
	"time"

	"backwave/store"
	"backwave/store/postgres"
)

// An answer has one instant, also when a part of it took a second statement.
func TestAnswerHasOneInstant(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	w.add(store.NewJob{ID: id(1)}, store.NewJob{ID: id(2)}, store.NewJob{ID: id(3)})
	l := w.claim("w", 1, 3, time.Minute)
	want(t, "success", w.report(store.Success{}, l[2].Key)[0].Status, store.ReportApplied)

	renew := &store.Renew{Worker: "w", Lease: time.Minute, Rows: []store.RenewRow{{Key: l[0].Key}, {Key: l[2].Key}}}
	renewed, err := w.Renew(t.Context(), renew)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "renewal of the finished", renewed.Rows[1].Status, store.RenewLost)
	want(t, "end of the renewed", renewed.Rows[0].ExpiresAt, renewed.At.Add(time.Minute))

	report := &store.Report{Worker: "w", Rows: []store.ReportRow{{Key: l[0].Key, Outcome: store.Success{}}, {Key: l[1].Key, Outcome: store.Failure{}}}}
	reported, err := w.Report(t.Context(), report)
	if err != nil {
		t.Fatal(err)
	}
	want(t, "failure", reported.Rows[1].Status, store.ReportApplied)
	j, err := w.Job(t.Context(), id(1))
	if err != nil {
		t.Fatal(err)
	}
	want(t, "instant of the success", j.Ends[0].At, reported.At)
}

// Delays count from the instant of the answer, of one job as of many.
func TestEnqueueAnswersTheInstantThatDelaysCountFrom(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	for _, ids := range [][]int{{1}, {2, 3}} {
		r := &store.Enqueue{}
		for _, n := range ids {
			r.Jobs = append(r.Jobs, store.NewJob{ID: id(n), Name: "n", Queue: "q", Delay: time.Hour})
		}
		out, err := w.Enqueue(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range ids {
			j, err := w.Job(t.Context(), id(n))
			if err != nil {
				t.Fatal(err)
			}
			want(t, "due", j.Due, out.At.Add(time.Hour))
			want(t, "enqueued", j.Enqueued, out.At)
		}
	}
}
