package postgres

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// SchemaVersion is the version of the schema that this package works with: the
// number of its migrations.
const SchemaVersion = 1

// worksWith says of each migration, first to last, which is the oldest
// SchemaVersion whose nodes go on beside it. A migration that only adds what
// they need not know leaves it as it is; nodes of the version before must always
// go on.
var worksWith = [SchemaVersion]int{1}

// migrations returns the statements of each migration, first to last.
func migrations() (list []string, err error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql") // in order of their names
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			return nil, err
		}
		list = append(list, string(text))
	}
	return list, nil
}

// MigrationSQL returns all that Migrate would run on an empty database, for
// somebody who prefers to run it by hand. It is one script, to be run in one
// transaction.
func (s *Store) MigrationSQL() (string, error) {
	list, err := migrations()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "create schema if not exists %s;\n%s;\n", s.quoted, s.sql(createVersions))
	for i, text := range list {
		fmt.Fprintf(&b, "\n-- version %d\n%s\n%s;\n", i+1, s.sql(text), s.sql(fmt.Sprintf("insert into {s}.version (n, works_with) values (%d, %d)", i+1, worksWith[i])))
	}
	return b.String(), nil
}

const createVersions = `create table if not exists {s}.version (n int primary key, works_with int not null, at timestamptz not null default now())`

// Migrate brings the schema up to SchemaVersion, creating it if need be. It only
// adds: nodes of the version before go on working, and may start again. Any
// number of nodes may call it at the same time. A newer schema that this version
// can work with is left as it is, another is refused with a *SchemaError; a
// session that is not READ COMMITTED with an *IsolationError.
func (s *Store) Migrate(ctx context.Context) error {
	list, err := migrations()
	if err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if err := checkIsolation(ctx, tx); err != nil {
			return err
		}
		// Who comes second waits here until the first has committed.
		if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock(hashtextextended($1, 0))", "backwave migrate "+s.schema); err != nil {
			return err
		}
		version, needs, err := s.version(ctx, tx)
		switch {
		case err != nil:
			return err
		case needs > SchemaVersion:
			return &SchemaError{Schema: s.schema, Have: version, Want: SchemaVersion, Needs: needs}
		case version >= SchemaVersion:
			return nil
		}
		if _, err := tx.Exec(ctx, "create schema if not exists "+s.quoted); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, s.sql(createVersions)); err != nil {
			return err
		}
		for i := version; i < SchemaVersion; i++ {
			if _, err := tx.Exec(ctx, s.sql(list[i]), pgx.QueryExecModeSimpleProtocol); err != nil {
				return fmt.Errorf("version %d: %w", i+1, err)
			}
			if _, err := tx.Exec(ctx, s.sql("insert into {s}.version (n, works_with) values ($1, $2)"), i+1, worksWith[i]); err != nil {
				return err
			}
		}
		return nil
	})
	return wrap("migrate", err)
}

// rower is a connection, a pool or a transaction.
type rower interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// version returns the version of the schema, 0 if there is none, and the oldest
// SchemaVersion that can work with it.
func (s *Store) version(ctx context.Context, c rower) (version, needs int, err error) {
	var there bool
	if err = c.QueryRow(ctx, "select to_regclass($1) is not null", s.quoted+".version").Scan(&there); err != nil || !there {
		return 0, 0, err
	}
	err = c.QueryRow(ctx, s.sql("select coalesce(max(n), 0), coalesce(max(works_with), 0) from {s}.version")).Scan(&version, &needs)
	return version, needs, err
}

// CheckSchema reports, as a *SchemaError, a schema that this package cannot work
// with: none, one that is too old, or a newer one that has left this version
// behind; and, as an *IsolationError, a session that is not READ COMMITTED.
func (s *Store) CheckSchema(ctx context.Context) error {
	if err := checkIsolation(ctx, s.pool); err != nil {
		return wrap("check schema", err)
	}
	version, needs, err := s.version(ctx, s.pool)
	if err == nil && (version < SchemaVersion || needs > SchemaVersion) {
		err = &SchemaError{Schema: s.schema, Have: version, Want: SchemaVersion, Needs: needs}
	}
	return wrap("check schema", err)
}

// sql puts the schema's name into a statement.
func (s *Store) sql(text string) string { return strings.ReplaceAll(text, "{s}", s.quoted) }
