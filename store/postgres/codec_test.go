package postgres

import (
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"backwave/store"
)

func TestHistoryComesBackAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := history{
			cut: rapid.IntRange(0, 1<<40).Draw(t, "cut"), last: rapid.String().Draw(t, "last"),
			until: store.Instant(rapid.Int64().Draw(t, "until")), lost: []byte(rapid.String().Draw(t, "lost")),
		}
		for range rapid.IntRange(0, 3).Draw(t, "ends") {
			h.ends = append(h.ends, store.End{
				Attempt: rapid.IntRange(1, 1<<30).Draw(t, "attempt"), Claim: rapid.Uint64().Draw(t, "claim"), Worker: rapid.String().Draw(t, "worker"),
				Kind: store.EndKind(rapid.Uint8().Draw(t, "kind")), To: store.State(rapid.Uint8().Draw(t, "to")),
				At: store.Instant(rapid.Int64().Draw(t, "at")), Due: store.Instant(rapid.Int64().Draw(t, "due")),
				Lease: time.Duration(rapid.Int64Range(0, 1<<50).Draw(t, "lease")) * time.Microsecond, Error: rapid.String().Draw(t, "error"),
			})
		}
		packed := h.pack()
		got, err := unpackHistory(packed)
		if len(got.lost) == 0 {
			got.lost = h.lost
		}
		if err != nil || !reflect.DeepEqual(got, h) {
			t.Fatalf("got %+v (%v), want %+v", got, err, h)
		}
		if n := rapid.IntRange(0, len(packed)).Draw(t, "torn at"); n > 0 && n < len(packed) {
			if torn, err := unpackHistory(packed[:n]); err == nil && len(torn.ends) == len(h.ends) && len(h.ends) > 0 {
				t.Fatalf("%d of %d bytes were taken for the whole", n, len(packed))
			}
		}
	})
}

// Stamped terms give what the claim's policy gives.
func TestTermsComeBackAsTheyWere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := store.Policy{
			MaxAttempts: rapid.IntRange(0, store.MaxCeiling).Draw(t, "max"), Factor: rapid.IntRange(0, store.MaxFactor).Draw(t, "factor"),
			First: time.Duration(rapid.Int64Range(0, int64(store.MaxDuration)).Draw(t, "first")), Cap: time.Duration(rapid.Int64Range(0, int64(store.MaxDuration)).Draw(t, "cap")),
			Jitter: rapid.IntRange(0, store.MaxJitter).Draw(t, "jitter"), NoJitter: rapid.Bool().Draw(t, "no jitter"),
		}
		j := store.Job{ID: store.NewJobID(1, 2, 3), Attempt: rapid.IntRange(1, 40).Draw(t, "attempt")}
		want := p.Delay(store.Token{Job: j.ID, Attempt: j.Attempt}, j.Attempt)
		for range 2 { // as stamped, and then as written back
			packed := packPolicy(p)
			if j.Ceiling > 0 {
				packed = packTerms(&j)
			}
			if err := unpackTerms(packed, &j); err != nil || j.Ceiling != p.WithDefaults().MaxAttempts || j.RetryDelay != want {
				t.Fatalf("got %d, %v (%v), want %d, %v", j.Ceiling, j.RetryDelay, err, p.WithDefaults().MaxAttempts, want)
			}
		}
	})
}

func FuzzStoredBytes(f *testing.F) {
	f.Add([]byte{historyFormat, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 0})
	f.Add([]byte{termsPolicy, 10, 1, 2, 3, 4})
	f.Add([]byte{payloadPlain})
	f.Fuzz(func(_ *testing.T, b []byte) { // whatever was stored, reading it does not panic
		_, _ = unpackHistory(b)
		_ = unpackTerms(b, &store.Job{})
		_, _ = unpackPayload(b)
	})
}
