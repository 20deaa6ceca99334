//go:build unix

package nemesis

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// The stores that Run knows.
const (
	Postgres = "postgres"
	SQLite   = "sqlite"
)

// Config says what Run does. A zero field means its documented default.
type Config struct {
	Store   string        // Postgres or SQLite; default Postgres
	URL     string        // a PostgreSQL server of somebody's, which is not harmed itself; default: a throw-away one
	Schema  string        // where its tables go, with URL; must not exist; default backwave_real
	For     time.Duration // how long there is trouble, at least a second; default 60s
	Workers int           // processes, 1 to 20; default 3
	Jobs    int           // jobs to enqueue at most, at least 1; default 30 for each second of trouble
	Seed    uint64        // of the plan of what is done to whom, and of the jobs
	Pace    time.Duration // mean time between two faults of one process or connection, at least 50ms; a server has a third as many; default 2s
	Only    []Kind        // faults to choose from; default all that the store can meet

	Dir    string                                 // an existing folder, for histories and logs; required
	Worker func(args []string) (*exec.Cmd, error) // starts a process that calls Work with args; required
	Tell   func(Progress)                         // told a few times a second how far it is; default nobody
}

// Progress is how far a run is.
type Progress struct {
	Phase    string        // "trouble", "healing" or "judging"
	Past     time.Duration // since the phase began
	Of       time.Duration // how long the phase may last; 0 = not known
	Enqueued int
	Left     int // jobs that have not ended; -1 if not asked
	Faults   int // begun
	Findings int // so far
}

// What every worker is configured with. The lease is short, so that much can
// happen to it; its operation timeout is a sixth of it.
const (
	queue       = "real"
	lease       = 2 * time.Second
	poolSize    = 8
	poll        = 100 * time.Millisecond
	maintenance = 300 * time.Millisecond
	retryCap    = 300 * time.Millisecond
	shutdown    = time.Second
)

// Validate returns every mistake in c.
func (c Config) Validate() error {
	_, err := c.withDefaults()
	return err
}

func (c Config) withDefaults() (Config, error) {
	if c.Store == "" {
		c.Store = Postgres
	}
	if c.Schema == "" {
		c.Schema = "backwave_real"
	}
	if c.For == 0 {
		c.For = time.Minute
	}
	if c.Workers == 0 {
		c.Workers = 3
	}
	if c.Pace == 0 {
		c.Pace = 2 * time.Second
	}
	if c.Jobs == 0 {
		c.Jobs = max(1, int(30*c.For.Seconds()))
	}
	if c.Tell == nil {
		c.Tell = func(Progress) {}
	}
	var errs []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	want(c.Store == Postgres || c.Store == SQLite, "store is %q, want %s or %s", c.Store, Postgres, SQLite)
	want(c.URL == "" || c.Store == Postgres, "there is the URL of a PostgreSQL server, and the store is %s", c.Store)
	want(c.URL == "" || strings.HasPrefix(c.URL, "postgres://") || strings.HasPrefix(c.URL, "postgresql://"), "the server's address does not begin with postgres:// or postgresql://")
	want(c.For >= time.Second, "trouble lasts %v, want at least 1s", c.For)
	want(c.Workers >= 1 && c.Workers <= 20, "there are %d workers, want 1 to 20", c.Workers)
	want(c.Jobs >= 1, "there are %d jobs, want at least 1", c.Jobs)
	want(c.Pace >= 50*time.Millisecond, "faults are %v apart, want at least 50ms", c.Pace)
	want(c.Dir != "", "there is no folder for the histories")
	want(c.Worker != nil, "nobody starts workers")
	for _, k := range c.Only {
		want(len(c.kinds(k.Target())) > 0 || !known(k), "no %s meets fault %s on %s", k.Target(), k, c.Store)
		want(known(k), "there is no fault %q", k)
	}
	return c, errors.Join(errs...)
}
