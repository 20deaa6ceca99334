package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
)

// session runs statements within one transaction and prepares each text once.
// Within a transaction nothing waits for a lock, so statements run without the
// caller's context, which would cost a goroutine each.
type session struct {
	prepare func(query string) (statement, error)
	stmts   map[string]statement
	conn    driver.Conn // nil within a transaction of the caller
}

// statement is prepared. Arguments are of the types of driver.Value.
type statement interface {
	exec(args []any) (sql.Result, error)
	query(scan func(row []any) error, args []any) error
	close() error
}

// onConn runs on a connection of the driver, past package database/sql, which
// costs as much again as a short statement.
func onConn(c driver.Conn) *session {
	return &session{conn: c, stmts: map[string]statement{}, prepare: func(query string) (statement, error) {
		st, err := c.Prepare(query)
		if err != nil {
			return nil, err
		}
		e, ok := st.(driver.StmtExecContext)
		q, also := st.(driver.StmtQueryContext)
		if !ok || !also {
			return nil, errors.New("the driver has statements without a context")
		}
		return &direct{exe: e, que: q, end: st}, nil
	}}
}

// close rolls back and closes the connection. SQLite keeps one alive, with its
// locks, for as long as a statement is open on it, so they come first.
func (s *session) close() {
	//nolint:errcheck // there may be no transaction any more, and a fault was told
	s.exec(`ROLLBACK`)
	for _, st := range s.stmts {
		st.close() //nolint:errcheck // as above
	}
	s.conn.Close() //nolint:errcheck // as above
}

// onTx runs in a transaction of the caller.
func onTx(tx *sql.Tx) *session {
	return &session{stmts: map[string]statement{}, prepare: func(query string) (statement, error) {
		st, err := tx.PrepareContext(context.Background(), query)
		return pooled{st}, err
	}}
}

func (s *session) stmt(query string) (statement, error) {
	if st, ok := s.stmts[query]; ok {
		return st, nil
	}
	st, err := s.prepare(query)
	if err != nil {
		return nil, err
	}
	s.stmts[query] = st
	return st, nil
}

// exec runs a statement that returns no rows.
func (s *session) exec(query string, args ...any) (sql.Result, error) {
	st, err := s.stmt(query)
	if err != nil {
		return nil, err
	}
	return st.exec(args)
}

// each runs a query and calls scan for every row, whose slice is used again
// for the next.
func (s *session) each(scan func(row []any) error, query string, args ...any) error {
	st, err := s.stmt(query)
	if err != nil {
		return err
	}
	return st.query(scan, args)
}

// number returns the one number of a query's one row, if there is one.
func (s *session) number(query string, args ...any) (n int64, found bool, err error) {
	err = s.each(func(row []any) error {
		n, found = row[0].(int64)
		return nil
	}, query, args...)
	return n, found, err
}

// direct is a statement of the driver.
type direct struct {
	exe  driver.StmtExecContext
	que  driver.StmtQueryContext
	end  driver.Stmt
	args []driver.NamedValue
	row  []driver.Value
}

func (d *direct) bind(args []any) []driver.NamedValue {
	d.args = d.args[:0]
	for i, a := range args {
		d.args = append(d.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return d.args
}

func (d *direct) exec(args []any) (sql.Result, error) {
	return d.exe.ExecContext(context.Background(), d.bind(args))
}

func (d *direct) query(scan func(row []any) error, args []any) (err error) {
	rows, err := d.que.QueryContext(context.Background(), d.bind(args))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if d.row == nil {
		d.row = make([]driver.Value, len(rows.Columns()))
	}
	row := make([]any, len(d.row))
	for {
		switch err := rows.Next(d.row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		for i := range row {
			row[i] = d.row[i]
		}
		if err := scan(row); err != nil {
			return err
		}
	}
}

func (d *direct) close() error { return d.end.Close() }

// pooled is a statement of package database/sql.
type pooled struct{ st *sql.Stmt }

func (p pooled) close() error { return p.st.Close() }

func (p pooled) exec(args []any) (sql.Result, error) {
	return p.st.ExecContext(context.Background(), args...)
}

func (p pooled) query(scan func(row []any) error, args []any) error {
	rows, err := p.st.QueryContext(context.Background(), args...)
	if err != nil {
		return err
	}
	return scanRows(rows, scan)
}

// scanRows calls scan for every row and closes rows.
func scanRows(rows *sql.Rows, scan func(row []any) error) error {
	defer rows.Close() //nolint:errcheck // Err tells
	names, err := rows.Columns()
	if err != nil {
		return err
	}
	row, dest := make([]any, len(names)), make([]any, len(names))
	for i := range row {
		dest[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(dest...); err != nil {
			return err
		}
		if err := scan(row); err != nil {
			return err
		}
	}
	return rows.Err()
}

// discard throws a connection of a pool away with all that is open on it:
// SQLite rolls its transaction back.
func discard(c *sql.Conn) {
	//nolint:errcheck // the error is the one that makes the pool close it
	c.Raw(func(any) error { return driver.ErrBadConn })
}
