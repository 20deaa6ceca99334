package postgres

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"
)

const (
	isolationSetting = "default_transaction_isolation"
	isolation        = "read committed"
)

// checkPool refuses what can be known of a pool without asking the server.
func checkPool(cfg *Config, pool *pgxpool.Config) error {
	if err := checkParams(pool); err != nil {
		return err
	}
	if cfg.Pumps < 0 || cfg.Completing < 0 {
		return fmt.Errorf("%d pumps and %d handlers in InTx: neither can be negative", cfg.Pumps, cfg.Completing)
	}
	need := callsOfPump*cfg.Pumps + cfg.Completing
	if cfg.Pumps > 0 {
		need++ // for whoever adds jobs meanwhile
	}
	if int(pool.MaxConns) < need {
		return &PoolError{Have: int(pool.MaxConns), Want: need, Pumps: cfg.Pumps, Completing: cfg.Completing}
	}
	return nil
}

func checkParams(pool *pgxpool.Config) error {
	if set, ok := pool.ConnConfig.RuntimeParams[isolationSetting]; ok && !strings.EqualFold(set, isolation) {
		return &IsolationError{Have: set}
	}
	return nil
}

// direct is where renewals and hints connect.
func direct(cfg *Config, pool *pgxpool.Config) (*pgxpool.Config, error) {
	if cfg.DirectURL == "" {
		return pool, nil
	}
	own, err := pgxpool.ParseConfig(cfg.DirectURL)
	if err != nil {
		return nil, fmt.Errorf("direct URL: %w", err) // pgx leaves the password out of it
	}
	return own, checkParams(own)
}

// callsOfPump is how many connections of the pool a pump uses at a time: for a
// claim, a report and a sweep. Renewals have their own.
const callsOfPump = 3

// checkIsolation asks a session what it is set to, which the server, the
// database, the role or a hook of the pool may have decided. Under any other
// level a statement would not see what was committed since its transaction
// began: a repeated claim could lease twice.
func checkIsolation(ctx context.Context, c rower) error {
	var have string
	if err := c.QueryRow(ctx, "select current_setting($1)", isolationSetting).Scan(&have); err != nil {
		return err
	}
	if have != isolation {
		return &IsolationError{Have: have}
	}
	return nil
}
