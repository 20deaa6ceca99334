//go:build unix

package pgtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"
)

// provide finds or starts the server of this process, once. What it returns is
// kept as long as the process lives: the collector must not close the pipe.
var provide = sync.OnceValues(func() (*server, error) {
	if url := os.Getenv("BW_TEST_POSTGRES"); url != "" {
		return &server{url: url, is: "the one that BW_TEST_POSTGRES names"}, nil
	}
	bin, err := binaries()
	if err != nil {
		return nil, err
	}
	return start(bin)
})

var schemas atomic.Int64

// URL returns the address of a server whose role may create schemas. The same
// server serves the whole process; it ends with it.
func URL(t testing.TB) string {
	t.Helper()
	s, err := provide()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the PostgreSQL server is %s", s.is)
	return s.url
}

// Schema returns a server and the name of a schema on it that is this test's
// alone. The test creates the schema; it is dropped when the test ends.
func Schema(t testing.TB) (url, schema string) {
	t.Helper()
	url = URL(t)
	schema = fmt.Sprintf("test %d \"%d\"", os.Getpid(), schemas.Add(1)) // a name that needs its quotes
	t.Cleanup(func() {
		if os.Getenv("BW_TEST_POSTGRES") != "" { // a throw-away server takes it along
			drop(t, url, schema)
		}
	})
	return url, schema
}

func drop(t testing.TB, url, schema string) {
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = conn.Close(context.Background()) }()
	if _, err := conn.Exec(context.Background(), "drop schema if exists "+pgx.Identifier{schema}.Sanitize()+" cascade"); err != nil {
		t.Error(err)
	}
}

// binaries returns the folder of initdb and postgres, after installing them if
// that is needed and allowed.
func binaries() (string, error) {
	if bin, ok := find(); ok {
		return bin, nil
	}
	const advice = "set BW_TEST_POSTGRES to the URL of a server, or install PostgreSQL 14 or later"
	apt, err := exec.LookPath("apt-get")
	if err != nil || os.Geteuid() != 0 {
		return "", fmt.Errorf("pgtest: no PostgreSQL server binaries found: %s", advice)
	}
	// Test processes of several packages may come here at once: each waits for
	// the others' lock, and finds the work done.
	for _, args := range [][]string{{"update"}, {"install", "-y", "--no-install-recommends", "postgresql"}} {
		c := exec.Command(apt, append([]string{"-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=2"}, args...)...)
		c.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := c.CombinedOutput(); err != nil && args[0] == "install" { // an old list may do
			return "", fmt.Errorf("pgtest: apt-get install postgresql: %w: %s\n%s", err, advice, out)
		}
	}
	if bin, ok := find(); ok {
		return bin, nil
	}
	return "", fmt.Errorf("pgtest: the package postgresql brought no server binaries: %s", advice)
}

// find looks where Debian keeps its versions, newest first, and then on PATH.
func find() (string, bool) {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(dirs, func(a, b string) int { return version(b) - version(a) })
	if p, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			dirs = append(dirs, filepath.Dir(real))
		}
	}
	for _, dir := range dirs {
		_, err1 := os.Stat(filepath.Join(dir, "initdb"))
		_, err2 := os.Stat(filepath.Join(dir, "postgres"))
		if err1 == nil && err2 == nil {
			return dir, true
		}
	}
	return "", false
}

func version(bin string) int {
	n, _ := strconv.Atoi(strings.Split(filepath.Base(filepath.Dir(bin)), ".")[0])
	return n
}
