package payments_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"backwave/engine"
	"backwave/examples/payments"
	"backwave/sim/simtest"
)

// world is one order that the handlers of a draft are to charge.
func world(draft func(payments.Bank) *engine.Mux) simtest.Scenario {
	return simtest.Scenario{
		Jobs: []simtest.Job{{Name: "charge", Args: payments.Order{ID: "o-1", Cents: 500}}},
		Setup: func(w *simtest.World) func() *engine.Mux {
			bank := newBank()
			w.Serve("bank.example", bank)
			w.Always("charged once", func() error {
				if n := len(bank.charges["o-1"]); n > 1 {
					return fmt.Errorf("o-1 was charged %d times", n)
				}
				return nil
			})
			return func() *engine.Mux {
				return draft(payments.Bank{Client: w.HTTP(), URL: "http://bank.example"})
			}
		},
	}
}

func TestFencedChargesOnce(t *testing.T) { simtest.Check(t, world(payments.Fenced)) }
func FuzzFenced(f *testing.F)            { simtest.Fuzz(f, world(payments.Fenced)) }

func TestCarelessChargesTwice(t *testing.T) { found(t, payments.Careless) }
func TestCheckingChargesTwice(t *testing.T) { found(t, payments.Checking) }

// found fails unless a draft is found to charge twice: within 200 timelines,
// and by one fault.
func found(t *testing.T, draft func(payments.Bank) *engine.Mux) {
	t.Helper()
	f := simtest.Find(t, world(draft))
	if f == nil || f.Invariant != "charged once" || f.Tried > 200 || len(f.Timeline) != 1 {
		t.Errorf("found %v", f)
	}
}

// bank is the other side. It charges whatever it is asked to, but one job once
// only, and it refuses an older attempt of a job once it has seen a newer one.
type bank struct {
	http.ServeMux
	charges map[string][]payments.Charge // by order
	highest map[string]int               // attempt of a job
}

func newBank() *bank {
	b := &bank{charges: map[string][]payments.Charge{}, highest: map[string]int{}}
	b.HandleFunc("POST /charges", b.charge)
	b.HandleFunc("GET /charges/{order}", b.show)
	return b
}

func (b *bank) charge(w http.ResponseWriter, r *http.Request) {
	var c payments.Charge
	if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if c.Job != "" {
		seen := b.highest[c.Job]
		if c.Attempt < seen {
			http.Error(w, "a later attempt was here", http.StatusConflict)
			return
		}
		b.highest[c.Job] = c.Attempt
		if seen > 0 {
			return // charged already
		}
	}
	b.charges[c.Order] = append(b.charges[c.Order], c)
	w.WriteHeader(http.StatusCreated)
}

func (b *bank) show(w http.ResponseWriter, r *http.Request) {
	if len(b.charges[r.PathValue("order")]) == 0 {
		http.NotFound(w, r)
	}
}
