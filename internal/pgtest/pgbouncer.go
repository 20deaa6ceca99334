//go:build unix

package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"backwave/clockx"
	"backwave/internal/pgserver"
)

// bouncerGuard runs PgBouncer until its standard input ends.
const bouncerGuard = `
"$0" pgbouncer.ini >pgbouncer.log 2>&1 </dev/null &
pid=$!
cat >/dev/null
kill -KILL $pid 2>/dev/null
wait $pid 2>/dev/null
cd / && rm -rf "$BW_PGTEST_DIR"
`

// bouncerConfig has the server's host, port, user and password, our port, and the
// parameters of sessions that PgBouncer is to pass over, since it refuses those
// that it does not know.
const bouncerConfig = `[databases]
* = host=%s port=%s user=%s%s
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = %d
unix_socket_dir =
auth_type = any
pool_mode = transaction
max_client_conn = 500
default_pool_size = 20
ignore_startup_parameters = %s
`

// PgBouncer starts a PgBouncer in transaction mode before the server at url and
// returns the address of that server through it. It ends with the test. It
// ignores the parameters of sessions that are named, and refuses all others that
// it does not know. A machine without PgBouncer fails the test.
func PgBouncer(t testing.TB, server string, ignore ...string) string {
	t.Helper()
	dir, err := folder()
	if err != nil {
		t.Fatal(err)
	}
	through, end, err := bounce(dir, server, ignore)
	t.Cleanup(func() {
		end()
		_ = os.RemoveAll(dir) // if there was no guard
	})
	if err == nil {
		err = bounced(through, dir)
	}
	if err != nil {
		t.Fatal(err)
	}
	return through
}

// folder is not one of the test's, into which no other user can go.
func folder() (string, error) { return os.MkdirTemp("", "bw-pgbouncer-") }

// bounce starts a guard, which end ends.
func bounce(dir, server string, ignore []string) (through string, end func(), err error) {
	end = func() {}
	bin, err := exec.LookPath("pgbouncer")
	if err != nil {
		if bin, err = exec.LookPath("/usr/sbin/pgbouncer"); err != nil { // not on everybody's PATH
			return "", end, fmt.Errorf("pgtest: no pgbouncer found: install the package pgbouncer: %w", err)
		}
	}
	who, err := pgserver.Unprivileged()
	if err != nil {
		return "", end, err
	}
	port, err := pgserver.FreePort()
	if err != nil {
		return "", end, err
	}
	u, err := url.Parse(server)
	if err != nil {
		return "", end, err
	}
	password, set := u.User.Password()
	if set { // an empty one would be an error
		password = " password='" + strings.ReplaceAll(password, "'", "''") + "'"
	}
	text := fmt.Sprintf(bouncerConfig, u.Hostname(), u.Port(), u.User.Username(), password, port, strings.Join(ignore, ","))
	ini := filepath.Join(dir, "pgbouncer.ini")
	if err := os.WriteFile(ini, []byte(text), 0o600); err != nil {
		return "", end, err
	}
	if who != nil {
		for _, path := range []string{dir, ini} {
			if err := os.Chown(path, int(who.Uid), int(who.Gid)); err != nil {
				return "", end, err
			}
		}
	}
	cmd := pgserver.Command(who, dir, "/bin/sh", "-c", bouncerGuard, bin)
	cmd.Env = append(os.Environ(), "BW_PGTEST_DIR="+dir)
	stop, err := cmd.StdinPipe()
	if err != nil {
		return "", end, err
	}
	if err := cmd.Start(); err != nil {
		return "", end, fmt.Errorf("pgtest: start pgbouncer: %w", err)
	}
	u.Host = fmt.Sprintf("127.0.0.1:%d", port)
	return u.String(), func() { _ = stop.Close(); _ = cmd.Wait() }, nil
}

// bounced waits until a connection comes through.
func bounced(through, dir string) (err error) {
	ctx := context.Background()
	for range pgserver.ReadyTries {
		var conn *pgx.Conn
		if conn, err = pgx.Connect(ctx, through); err == nil {
			return conn.Close(ctx)
		}
		_ = clockx.Sleep(ctx, clockx.Wall{}, pgserver.ReadyPause)
	}
	out, _ := os.ReadFile(filepath.Join(dir, "pgbouncer.log"))
	return fmt.Errorf("pgtest: nothing comes through pgbouncer: %w\n%s", err, out)
}
