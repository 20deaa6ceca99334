package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"backwave/clockx"
	"backwave/store"
)

var (
	_ store.Store  = (*Store)(nil)
	_ store.Hinter = (*Store)(nil)
)

// Clock replaces the server's clock in tests that move time themselves.
type Clock interface{ Now() store.Instant }

// Config says where the jobs are.
type Config struct {
	// URL names the server and the database, as libpq does. Either it or Pool is
	// required.
	URL string
	// Pool is used instead of a pool of the store's own, and is not closed by
	// Close. Its sessions must be READ COMMITTED: Open refuses, with an
	// *IsolationError, a configuration that says otherwise, and Migrate and
	// CheckSchema a session. Renewals and hints connect by its configuration,
	// outside of it.
	Pool *pgxpool.Pool
	// Pumps is how many pumps of this process will use the store, the sum over
	// its groups, and Completing how many of their handlers may be inside InTx
	// at once. Open refuses, with a *PoolError, a pool of fewer connections than
	// they use at a time: three for each pump, one for each handler and one for
	// enqueues. Default: 0, nobody is counted.
	Pumps, Completing int
	// DirectURL is where renewals and hints connect instead: the server itself,
	// when URL or Pool leads through a pooler such as PgBouncer. A pooler in
	// transaction mode passes no notifications on, and lets renewals wait for a
	// connection. Default: where URL or Pool leads.
	DirectURL string
	// Schema holds all tables. It may have any name. Default: backwave.
	Schema string
	// NoNotify sends no hints to other processes and listens to none, so that
	// they poll.
	NoNotify bool
	// Clock decides instead of the server's clock. Default: the server's.
	Clock Clock
	// Timer times the pauses of hints and reconnects, and how long claims may pass
	// over what became visible behind them. Default: the wall clock.
	Timer clockx.Clock
}

// Store keeps jobs in one schema of a database. It is safe for many goroutines.
type Store struct {
	schema string // as named
	quoted string // as it stands in statements
	clock  Clock
	timer  clockx.Clock

	pool     *pgxpool.Pool
	ownsPool bool
	renewals *pgxpool.Pool // for renewals only, so that nothing else can starve them
	hints    *hints
	cursors  *cursors
	calm     calms
	cleaner  *cleaner

	stmts statements

	mu     sync.Mutex
	queues map[string]struct{} // seen in the table
}

// renewalConns is how many connections are kept for renewals: a second one, so
// that one pump's renewal does not wait while another's hangs.
const renewalConns = 2

// Open connects lazily: a server that is not up shows with the first call, as a
// transient fault. Only what is wrong with cfg itself is an error here. The
// schema must have been brought up to date by Migrate.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	s := &Store{schema: cfg.Schema, clock: cfg.Clock, timer: cfg.Timer, pool: cfg.Pool, queues: map[string]struct{}{}}
	s.calm.of = map[string]calm{}
	if s.schema == "" {
		s.schema = "backwave"
	}
	if s.timer == nil {
		s.timer = clockx.Wall{}
	}
	s.cursors = newCursors(s.timer)
	s.quoted = pgx.Identifier{s.schema}.Sanitize()
	s.stmts = s.prepare()
	if s.pool == nil {
		if err := s.open(ctx, cfg.URL); err != nil {
			return nil, err
		}
	}
	own := s.pool.Config()
	err := checkPool(&cfg, own)
	if err == nil {
		own, err = direct(&cfg, own)
	}
	if err != nil {
		s.closePool()
		return nil, wrap("open", err)
	}
	own.MaxConns, own.MinConns, own.MinIdleConns = renewalConns, 0, 0
	tune(own)
	renewals, err := pgxpool.NewWithConfig(ctx, own)
	if err != nil {
		s.closePool()
		return nil, wrap("open", err)
	}
	s.renewals = renewals
	s.hints = newHints(s, !cfg.NoNotify)
	s.cleaner = newCleaner(s)
	return s, nil
}

func (s *Store) open(ctx context.Context, url string) error {
	if url == "" {
		return errors.New("postgres: open: neither a URL nor a pool is given")
	}
	cfg, err := pgxpool.ParseConfig(url)
	if err != nil {
		return fmt.Errorf("postgres: open: %w", err) // pgx leaves the password out of it
	}
	tune(cfg)
	s.ownsPool = true
	s.pool, err = pgxpool.NewWithConfig(ctx, cfg)
	return wrap("open", err)
}

// tune sets what the statements of this package want of their sessions. Plans
// are made once. Made while a table is empty, a scan of it and a sort of what it
// gives would be the best of them, and stay so when it holds a million jobs: the
// order has to come from the index.
func tune(cfg *pgxpool.Config) {
	for name, value := range map[string]string{
		"application_name":              "backwave",
		"default_transaction_isolation": "read committed",
		"plan_cache_mode":               "force_generic_plan",
		"enable_seqscan":                "off",
		"enable_bitmapscan":             "off",
		"enable_sort":                   "off",
		"jit":                           "off",
	} {
		if _, set := cfg.ConnConfig.RuntimeParams[name]; !set {
			cfg.ConnConfig.RuntimeParams[name] = value
		}
	}
}

// Close ends the store's connections. Calls under way are cut off.
func (s *Store) Close() {
	s.hints.close()
	s.cleaner.close()
	s.renewals.Close()
	s.closePool()
}

func (s *Store) closePool() {
	if s.ownsPool {
		s.pool.Close()
	}
}

// now is the instant that statements are to decide by; nil for the server's.
func (s *Store) now() *int64 {
	if s.clock == nil {
		return nil
	}
	us := int64(s.clock.Now())
	return &us
}

// lockWait is how long a statement may wait for somebody's row before it answers
// Busy. It is far below deadlock_timeout, so that waits in a circle end here.
const lockWait = 40 * time.Millisecond

// frozen is how long a transaction of several round trips may stand still
// before the server ends it: this process may be stopped in the middle of one.
const frozen = 10 * time.Second

// begin starts a transaction whose waits are bounded. The caller rolls it back,
// which after a commit does nothing.
func (s *Store) begin(ctx context.Context) (pgx.Tx, error) {
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted})
	if err != nil {
		return nil, err
	}
	_, err = tx.Exec(ctx, bounded, millis(lockWait), millis(frozen))
	if err != nil {
		s.rollback(ctx, tx)
		return nil, err
	}
	return tx, nil
}

const bounded = "select set_config('lock_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $2, true)"

func millis(d time.Duration) string { return fmt.Sprint(d.Milliseconds()) }

// rollback gives the connection back also when ctx has ended.
func (s *Store) rollback(ctx context.Context, tx pgx.Tx) {
	_ = tx.Rollback(context.WithoutCancel(ctx))
}
