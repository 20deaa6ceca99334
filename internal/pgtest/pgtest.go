//go:build unix

package pgtest

import (
	"context"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"backwave/internal/pgserver"
)

// otherwise is what somebody can do who has no server.
const otherwise = "set BW_TEST_POSTGRES to the URL of a server"

// server is the server of this process: its address, which one it is, for
// people, and its handle if it is ours.
type server struct {
	url, is string
	own     *pgserver.Server
}

// provide finds or starts the server of this process, once. What it returns is
// kept as long as the process lives: the collector must not close the pipe.
var provide = sync.OnceValues(func() (*server, error) {
	if url := os.Getenv("BW_TEST_POSTGRES"); url != "" {
		return &server{url: url, is: "the one that BW_TEST_POSTGRES names"}, nil
	}
	bin, err := pgserver.Binaries(otherwise)
	if err != nil {
		return nil, err
	}
	own, err := pgserver.Start(bin)
	if err != nil {
		return nil, err
	}
	return &server{url: own.URL(), is: "a throw-away one from " + bin, own: own}, nil
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
