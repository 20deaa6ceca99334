package postgres_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"backwave/internal/pgtest"
	"backwave/store"
	"backwave/store/postgres"
	"backwave/store/storetest"
)

// tuned is what the store asks of its sessions and PgBouncer does not know.
var tuned = []string{"default_transaction_isolation", "plan_cache_mode", "enable_seqscan", "enable_bitmapscan", "enable_sort", "jit"}

// The whole contract through PgBouncer in transaction mode, in every mode of
// queries that needs no prepared statements. It takes minutes and a PgBouncer,
// so that it runs only when asked for, and then has to.
func TestContractThroughPgBouncer(t *testing.T) {
	if os.Getenv("BW_TEST_PGBOUNCER") == "" {
		t.Log("not asked for: make long-pgbouncer asks")
		return
	}
	for _, mode := range []string{"exec", "simple_protocol", "cache_describe"} {
		t.Run(mode, func(t *testing.T) {
			pooled := pgtest.PgBouncer(t, pgtest.URL(t), tuned...)
			through := func(t *testing.T, cfg postgres.Config) *world {
				cfg.URL = with(pooled, "default_query_exec_mode="+mode)
				return openAt(t, cfg)
			}
			t.Run("contract", func(t *testing.T) {
				storetest.Run(t, func(t *testing.T, clock *storetest.Clock) storetest.Harness {
					w := through(t, postgres.Config{Clock: clock, NoNotify: true})
					return storetest.Harness{Store: w.Store, Hold: w.hold, Damage: w.damage, Audits: w.audits}
				})
			})
			t.Run("InTx", func(t *testing.T) { inTxThrough(t, through(t, postgres.Config{NoNotify: true})) })
			t.Run("direct", func(t *testing.T) { hintsBeside(t, through(t, postgres.Config{DirectURL: pgtest.URL(t)})) })
		})
	}
}

// hintsBeside gives hints and hears them although PgBouncer passes none on.
func hintsBeside(t *testing.T, w *world) {
	far := w.other()
	near, there := listen(t, w.Store), listen(t, far)
	w.listening(2)
	w.add(store.NewJob{ID: id(1), Queue: "to the other"})
	heard(t, there, "to the other")
	if _, err := far.Enqueue(t.Context(), &store.Enqueue{Jobs: []store.NewJob{{ID: id(2), Name: "n", Queue: "from the other"}}}); err != nil {
		t.Fatal(err)
	}
	heard(t, near, "from the other")
	w.add(store.NewJob{ID: id(3)})
	want(t, "renewal", w.renew(w.claim("w", 1, 1, time.Minute)[0].Key)[0].Status, store.RenewOK)
}

// with adds a parameter to a URL.
func with(url, parameter string) string {
	if strings.Contains(url, "?") {
		return url + "&" + parameter
	}
	return url + "?" + parameter
}

// inTxThrough completes one job in a transaction, and fails to complete one that
// is somebody else's by then.
func inTxThrough(t *testing.T, w *world) {
	w.exec(w.connect(), "create table effect (n int)")
	w.add(store.NewJob{ID: id(1)}, store.NewJob{ID: id(2)})
	leases := w.claim("w", 1, 2, time.Minute)
	for n, l := range leases {
		if n == 1 {
			w.exec(w.connect(), "update job set claim = claim + 1 where id = $1", l.Key.Job.String())
		}
		job := &attempt{worker: "w", length: time.Minute, lease: l}
		err := w.InTx(t.Context(), job, func(tx pgx.Tx) error {
			_, err := tx.Exec(t.Context(), "insert into "+w.schema+".effect values ($1)", n)
			return err
		})
		if !errors.Is(err, []error{nil, store.ErrLeaseLost}[n]) {
			t.Errorf("InTx of job %d: %v", n, err)
		}
	}
	var n, sum int
	if err := w.connect().QueryRow(t.Context(), "select count(*), sum(n) from effect").Scan(&n, &sum); err != nil {
		t.Fatal(err)
	}
	want(t, "effects", [2]int{n, sum}, [2]int{1, 0})
}
