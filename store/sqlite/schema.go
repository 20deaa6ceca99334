package sqlite

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"
)

//go:embed schema.sql
var schema string

// SchemaVersion is the version of the tables that this package reads and
// writes. It never goes down.
func SchemaVersion() int { return 1 }

// MigrationSQL is what Open carries out on a file without tables of BackWave,
// for those who want to do it themselves.
func MigrationSQL() string { return schema }

// migrate creates the tables, if there are none, under the write lock. Nothing
// is changed in a file that a newer version has migrated: either this one can
// work with what it finds, or it is refused.
func migrate(ctx context.Context, c *sql.Conn) error {
	var n int
	err := c.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'backwave_schema'`).Scan(&n)
	if err != nil {
		return err
	}
	if n == 0 {
		_, err = c.ExecContext(ctx, schema)
		return err
	}
	var version, needs int
	if err := c.QueryRowContext(ctx, `SELECT version, works_with FROM backwave_schema`).Scan(&version, &needs); err != nil {
		return fmt.Errorf("schema version: %w", err)
	}
	if needs > SchemaVersion() {
		return &SchemaError{Found: version, Needs: needs, Known: SchemaVersion()}
	}
	return nil
}
