package postgres_test

import (
	"testing"
	"time"

	"backwave/store"
	"backwave/store/postgres"
)

// Each row is damaged by hand in another place; its neighbours run on.
func TestDamagedRowsHarmNoNeighbour(t *testing.T) {
	w := open(t, postgres.Config{NoNotify: true})
	w.add(store.NewJob{ID: id(1)}, store.NewJob{ID: id(2)}, store.NewJob{ID: id(3), Payload: []byte("p")}, store.NewJob{ID: id(4), Payload: []byte("good")})
	for n, l := range w.claim("w", 1, 4, time.Minute) { // so that there is a history
		if n != 2 {
			w.report(store.Released{}, l.Key)
		}
	}
	hand := w.connect()
	w.exec(hand, `update job set hist = '\x09aabb' where id = $1`, id(1).String())
	w.exec(hand, `update job set hist = substr(hist, 1, length(hist) - 3) where id = $1`, id(2).String())
	w.exec(hand, `update job set payload = '\x77' where id = $1`, id(4).String())
	w.add(store.NewJob{ID: id(5), Payload: []byte("good")})
	damage := map[store.JobID]string{}
	keys := map[store.JobID]store.LeaseKey{}
	for _, l := range w.claim("w", 2, 9, time.Minute) {
		damage[l.Key.Job], keys[l.Key.Job] = l.Damage, l.Key
	}
	want(t, "leases", len(damage), 4)
	want(t, "strange history", damage[id(1)], "the history cannot be read")
	want(t, "torn history", damage[id(2)], "the history cannot be read")
	want(t, "strange payload", damage[id(4)], "the payload has the unknown format 119")
	want(t, "neighbour", damage[id(5)], "")
	got := w.report(store.Undecodable{Error: "x"}, keys[id(1)], keys[id(2)], keys[id(4)], keys[id(5)])
	for _, a := range got {
		want(t, "report", a, store.ReportAnswer{Status: store.ReportApplied, To: store.Quarantined})
	}
	for n, key := range keys {
		j, err := w.Job(t.Context(), n)
		want(t, "error", err, nil)
		want(t, "damage", j.Damage, damage[n])
		want(t, "attempts accounted for", len(j.Ends)+j.EndsCut, j.Attempt)
		want(t, "the end is known", w.report(store.Success{}, key)[0].Status, store.ReportAlready)
	}
	w.exec(hand, `update job set terms = '\x05' where id = $1`, id(3).String())
	j, err := w.Job(t.Context(), id(3))
	want(t, "error", err, nil)
	want(t, "strange terms", j.Damage, "the terms cannot be read")
	out, err := w.Do(t.Context(), &store.Do{Actor: "a", RequestID: "r", Command: store.Cancel{Job: id(3), Force: true}})
	want(t, "error", err, nil)
	want(t, "cancel", out.Result, store.DoChanged)
}
