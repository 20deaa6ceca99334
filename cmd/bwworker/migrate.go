package main

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

func (a *app) migrateCommand() *cobra.Command {
	x, dry := &access{}, false
	c := &cobra.Command{
		Use:   "migrate",
		Short: "Bring the store's tables up to date",
		Long: `Bring the store's tables up to date. Every other command does so too when it
finds them missing or old; this one is for those whose workers may not. It only
adds, and any number of processes may do it at once. It prints the version of the
tables that this program needs; a newer one that this program can work with is
left as it is.

--dry-run prints the SQL that makes all tables on an empty database, and touches
nothing.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if dry {
				return a.printTables(x, c.Flags().Changed)
			}
			return a.use(x, c.Flags().Changed, func(_ context.Context, st *opened) error { // opening it was enough
				p := newPrinter(a.stdout, x.format, "SCHEMA")
				p.row(tablesView{st.schema}, strconv.Itoa(st.schema))
				return p.flush()
			})
		},
	}
	c.Flags().BoolVar(&dry, "dry-run", false, "print the SQL instead")
	x.flags(c)
	return c
}

// tablesView is what migrate prints.
type tablesView struct {
	Schema int `json:"schema"` // version of the tables
}

// printTables prints the SQL of the store's tables.
func (a *app) printTables(x *access, given func(flag string) bool) error {
	s, err := a.settings(x, given)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	a.stderr.hideDSN(s.store)
	a.stderr.hideDSN(s.direct)
	for _, k := range kinds {
		if !strings.HasPrefix(s.store, k.prefix) {
			continue
		}
		text, err := k.tables(s.target(0))
		if err != nil {
			return usageError("store %s: %w", maskDSN(s.store), err)
		}
		if _, err := io.WriteString(a.stdout, text); err != nil {
			return fmt.Errorf("standard output: %w", err)
		}
		return nil
	}
	return usageError("%w", checkDSN(s.store))
}
