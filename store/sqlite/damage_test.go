package sqlite_test

import (
	"testing"

	"backwave/store"
)

// Rows that somebody spoiled by hand are claimed with the reason and can be
// quarantined; the rows beside them run.
func TestSpoiledRowsHarmNoNeighbour(t *testing.T) {
	for name, spoil := range map[string]string{
		"history is no JSON":        `ends = X'00ff'`,
		"history is another JSON":   `ends = CAST('{"a":1}' AS BLOB)`,
		"history of unknown kinds":  `ends = CAST('[{"kind":"miracle"}]' AS BLOB)`,
		"id cut short":              `id = X'01'`,
		"number that is a sentence": `base = 'three'`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ids := w.add(3)
			_, err := w.other.Exec(`UPDATE backwave_job SET `+spoil+` WHERE id = ?`, ids[1][:])
			if spoil == `base = 'three'` {
				if err == nil {
					t.Error("SQLite lets text into a column of numbers")
				}
				return
			}
			check(t, err)
			leases := w.take("w")
			if len(leases) != 3 || leases[0].Damage != "" || leases[1].Damage == "" || leases[1].Payload != nil || leases[2].Damage != "" {
				t.Fatalf("leases %+v", leases)
			}
			rows := []store.ReportRow{
				{Key: leases[0].Key, Outcome: store.Success{}},
				{Key: leases[1].Key, Outcome: store.Undecodable{Error: leases[1].Damage}},
				{Key: leases[2].Key, Outcome: store.Success{}},
			}
			got := must(w.s.Report(t.Context(), &store.Report{Worker: "w", Rows: rows})).Rows
			want := []store.ReportAnswer{{Status: store.ReportApplied, To: store.Succeeded}, {Status: store.ReportApplied, To: store.Quarantined}, {Status: store.ReportApplied, To: store.Succeeded}}
			if name == "id cut short" {
				want[1] = store.ReportAnswer{Status: store.ReportStale} // nobody can name it any more
			}
			for i := range want {
				if got[i] != want[i] {
					t.Errorf("row %d is answered %+v, want %+v", i, got[i], want[i])
				}
			}
		})
	}
}
