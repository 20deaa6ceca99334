//go:build unix

package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"backwave/internal/pgtest"
)

// everyStore runs a test over the stores that several processes see.
func everyStore(t *testing.T, test func(t *testing.T, dsn string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, "sqlite:"+filepath.Join(t.TempDir(), "jobs.db")) })
	t.Run("postgres", func(t *testing.T) {
		address, schema := pgtest.Schema(t)
		test(t, parameter(t, address, "schema", schema))
	})
}

// says runs one command line as a process of its own and returns what it
// printed.
func says(t *testing.T, code int, dsn string, args ...string) string {
	t.Helper()
	p := command(t, "", append(args, "--store", dsn)...)
	p.exit(code)
	return p.stdout.String()
}

func TestProcessesShareAStore(t *testing.T) {
	everyStore(t, func(t *testing.T, dsn string) {
		for range 2 {
			if out := says(t, exitDone, dsn, "migrate", "--format", "json"); out != "{\"schema\":1}\n" {
				t.Errorf("printed was %q", out)
			}
		}
		if out := says(t, exitDone, dsn, "enqueue", "work", `{"n": 1}`, "--queue", "q", "--count", "200", "--format", "json"); strings.Count(out, "\n") != 200 {
			t.Errorf("printed was\n%s", out)
		}
		says(t, exitDone, dsn, "enqueue", "fail", "--queue", "q", "--id", someID)
		says(t, exitDone, dsn, "queues", "pause", "later")
		says(t, exitDone, dsn, "enqueue", "work", "--queue", "later", "--in", "1h", "--unique", "k")
		if out := says(t, exitDone, dsn, "queues", "ls", "--format", "json"); out != `{"queue":"later","paused":true,"jobs":{"scheduled":1}}`+"\n"+`{"queue":"q","paused":false,"jobs":{"scheduled":201}}`+"\n" {
			t.Errorf("printed was\n%s", out)
		}
		config := `
groups: [{name: g, queues: [q], retry: {max_attempts: 1}}]
handlers: {work: {command: ['true']}, fail: {command: ['false']}}
`
		a := start(t, config, "", "--until-empty", "--store", dsn)
		b := start(t, config, "", "--until-empty", "--store", dsn)
		failed := 0
		for _, p := range []*process{a, b} {
			switch code := p.ended(); {
			case code == exitFailed: // it was there when the job failed
				failed++
			case code != exitDone:
				t.Errorf("a worker ended with %d: %s", code, p.log())
			}
			if out := p.stdout.String(); !strings.HasPrefix(out, "jobs: 200 succeeded, 1 dead-lettered\n") {
				t.Errorf("printed was\n%s", out)
			}
		}
		if failed == 0 {
			t.Error("nobody tells that a job has failed")
		}
		start(t, config, "", "--until-empty", "--store", dsn).exit(exitDone) // which is not this run's
		says(t, exitDone, dsn, "jobs", "requeue", someID)
		if out := says(t, exitDone, dsn, "jobs", "ls", "--state", "scheduled", "--queue", "q"); !strings.Contains(out, someID+"  scheduled  q      fail  1 ") {
			t.Errorf("printed was\n%s", out)
		}
		says(t, exitDone, dsn, "jobs", "cancel", someID)
		if out := says(t, exitDone, dsn, "jobs", "show", someID); !strings.Contains(out, "cancelled, attempt 1") {
			t.Errorf("printed was\n%s", out)
		}
		says(t, exitFailed, dsn, "jobs", "show", "01890a5d-ac96-774b-bcce-b302099a8058")
		if out := says(t, exitDone, dsn, "migrate", "--dry-run"); !strings.Contains(strings.ToLower(out), "create table") {
			t.Errorf("printed was\n%s", out)
		}
	})
}

func TestAServerThatIsNotThere(t *testing.T) {
	p := command(t, "", "queues", "ls", "--store", "postgres://me:hush-hush@127.0.0.1:9/db?connect_timeout=5")
	p.exit(exitUnreachable)
	if log := p.log(); strings.Contains(log, "hush-hush") || !strings.Contains(log, "postgres://me:xxxxx@127.0.0.1:9/db") {
		t.Errorf("standard error is %q", log)
	}
	p = command(t, "", "queues", "ls", "--store", "sqlite:"+filepath.Join(t.TempDir(), "no", "such", "folder", "jobs.db"))
	p.exit(exitUnreachable)
}

// What does not pass by itself is not waited for.
func TestAServerThatRefuses(t *testing.T) {
	refused := func(dsn string, code int, why ...string) {
		t.Helper()
		p := command(t, "", "queues", "ls", "--wait", "1h", "--store", dsn)
		p.exit(code)
		for _, text := range append(why, "bwworker: store ") {
			if log := p.log(); !strings.Contains(log, text) || strings.Contains(log, "hush-hush") {
				t.Errorf("standard error is %q, want %q in it", log, text)
			}
		}
	}
	server := pgtest.URL(t)
	refused(with(t, server, func(u *url.URL) { u.Path = "/nowhere" }), exitUnreachable, "(SQLSTATE 3D000): make the database")
	refused(with(t, server, func(u *url.URL) { u.RawQuery = "pool_max_conns=many" }), exitUsage, "pool_max_conns")
	refused(with(t, server, func(u *url.URL) { u.RawQuery = "default_transaction_isolation=serializable" }), exitUsage, "read committed")

	own := pgtest.NewOwn(t)
	conn, err := pgx.Connect(t.Context(), own.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), "create role low login"); err != nil {
		t.Fatal(err)
	}
	refused(with(t, own.URL(), func(u *url.URL) { u.User = url.User("low") }), exitUnreachable, "(SQLSTATE 42501): making tables needs CREATE on the database")
	var file string
	if err := conn.QueryRow(t.Context(), "show hba_file").Scan(&file); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("host all all all scram-sha-256\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	own.Stop(true)
	own.Start()
	refused(with(t, own.URL(), func(u *url.URL) { u.User = url.UserPassword("me", "hush-hush") }), exitUnreachable, "(SQLSTATE 28P01): check user and password")
}

// A store that a later program has migrated is used as far as that one says.
func TestAStoreOfTheNextVersion(t *testing.T) {
	everyStore(t, func(t *testing.T, dsn string) {
		says(t, exitDone, dsn, "migrate")
		change := nextVersion(t, dsn)
		change(2, 1)
		says(t, exitDone, dsn, "migrate")
		says(t, exitDone, dsn, "enqueue", "h", "--queue", "q")
		start(t, "groups: [{name: g, queues: [q]}]\nhandlers: {h: {command: ['true']}}\n", "", "--until-empty", "--store", dsn).exit(exitDone)
		change(3, 2)
		for _, args := range [][]string{{"queues", "ls"}, {"migrate"}} {
			p := command(t, "", append(args, "--wait", "1h", "--store", dsn)...)
			p.exit(exitUnreachable)
			if log := p.log(); !strings.Contains(log, "has version 3, which programs of version 2 and later work with") && !strings.Contains(log, "tables of version 3, which programs of version 2 and later work with") {
				t.Errorf("standard error is %q", log)
			}
		}
	})
}

// nextVersion returns what writes down that a later program has been there.
func nextVersion(t *testing.T, dsn string) func(version, worksWith int) {
	t.Helper()
	if file, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		return func(version, worksWith int) {
			if _, err := db.ExecContext(t.Context(), "UPDATE backwave_schema SET version = ?, works_with = ?", version, worksWith); err != nil {
				t.Fatal(err)
			}
		}
	}
	u, schema, err := withoutSchema(dsn)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), u.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return func(version, worksWith int) {
		if _, err := conn.Exec(t.Context(), "insert into "+pgx.Identifier{schema, "version"}.Sanitize()+" (n, works_with) values ($1, $2)", version, worksWith); err != nil {
			t.Fatal(err)
		}
	}
}

// with returns a changed address.
func with(t *testing.T, address string, change func(*url.URL)) string {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	change(u)
	return u.String()
}

// parameter adds a parameter to an address.
func parameter(t *testing.T, address, name, value string) string {
	return with(t, address, func(u *url.URL) {
		q := u.Query()
		q.Set(name, value)
		u.RawQuery = q.Encode()
	})
}

// The pool is made large enough for the pumps, unless the address says how large
// it is.
func TestThePoolIsSizedForThePumps(t *testing.T) {
	address, schema := pgtest.Schema(t)
	dsn := parameter(t, address, "schema", schema)
	config := `
groups: [{name: a, queues: [q], pumps: 5}, {name: b, queues: [q], pumps: 1}]
handlers: {h: {command: ['true']}}
`
	start(t, config, `{"name": "h"}`, "--until-empty", "--store", dsn).exit(exitDone)
	p := start(t, config, "", "--until-empty", "--store", parameter(t, dsn, "pool_max_conns", "18"))
	p.exit(exitUsage)
	if log := p.log(); !strings.Contains(log, "6 pumps") || !strings.Contains(log, "pool_max_conns=19") {
		t.Errorf("standard error is %q", log)
	}
	start(t, config, "", "--until-empty", "--store", parameter(t, dsn, "pool_max_conns", "19")).exit(exitDone)
}

// Renewals and LISTEN go to the direct store, claims do not.
func TestTheDirectStore(t *testing.T) {
	address, schema := pgtest.Schema(t)
	dsn := parameter(t, parameter(t, address, "schema", schema), "application_name", "bw-pooled")
	direct := parameter(t, address, "application_name", "bw-direct")
	p := start(t, "direct_store: '"+direct+"'\ngroups: [{name: g, queues: [q]}]\nhandlers: {h: {command: ['true']}}\n", "", "--store", dsn)
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	for _, name := range []string{"bw-pooled", "bw-direct"} {
		for there := false; !there; {
			if err := conn.QueryRow(t.Context(), "select exists (select from pg_stat_activity where application_name = $1)", name).Scan(&there); err != nil {
				t.Fatal(err)
			}
		}
	}
	p.signal(os.Interrupt)
	p.exit(exitDone)
	p = start(t, "direct_store: '"+parameter(t, direct, "schema", "other")+"'\ngroups: [{name: g, queues: [q]}]\nhandlers: {h: {command: ['true']}}\n", "", "--store", dsn)
	p.exit(exitUsage)
	if log := p.log(); !strings.Contains(log, `the direct store has schema "other"`) {
		t.Errorf("standard error is %q", log)
	}
}

func TestASignalEndsAWorkerThatServesOn(t *testing.T) {
	everyStore(t, func(t *testing.T, dsn string) {
		p := start(t, "groups: [{name: g, queues: [q]}]\nhandlers: {h: {command: ['true']}}\n", "", "--http", "127.0.0.1:0", "--store", dsn)
		p.see("listening")
		p.signal(os.Interrupt)
		p.exit(exitDone)
		if got := p.stdout.String(); got != "jobs: not counted; bwworker queues ls does that\n" {
			t.Errorf("standard output is %q", got)
		}
	})
}

func TestASignalEndsTheWaitForAStore(t *testing.T) {
	p := start(t, "groups: [{name: g, queues: [q]}]\nhandlers: {h: {command: ['true']}}\n", "", "--wait", "1h", "--store", "postgres://127.0.0.1:9/db")
	p.see("waiting for the store")
	p.signal(os.Interrupt)
	p.exit(exitUnreachable)
}

// What commands and callers send over real stores must not harm a neighbour.
func TestBadInputOverRealStores(t *testing.T) {
	everyStore(t, func(t *testing.T, dsn string) {
		odd := "it's \"🐘\"\n;--"
		long := strings.Repeat("q", 255)
		config := `
groups: [{name: g, queues: ["it's \"🐘\"\n;--", ` + long + `], retry: {max_attempts: 1}}]
handlers:
  good: {command: [cat], stdout: output}
  bytes: {command: [sh, -c, 'printf "a\\0b\\377c"; printf "progress \\0\\377\\n" >&3'], stdout: output}
  text: {command: [sh, -c, 'printf "a\\0b\\377c" >&2; exit 1']}
  huge: {command: [sh, -c, 'head -c 30000000 /dev/zero >&2; exit 1']}
  over: {command: [sh, -c, 'head -c 30000000 /dev/zero'], stdout: output}
`
		for i, q := range []string{odd, long} {
			says(t, exitDone, dsn, "enqueue", "good", `"\u0000 is fine"`, "--queue", q)
			for _, name := range []string{"bytes", "text", "huge", "over"} {
				says(t, exitDone, dsn, "enqueue", name, "--queue", q, "--unique", fmt.Sprint(name, i, " 🐘'"))
			}
			says(t, exitDone, dsn, "enqueue", "good", "--queue", q, "--at", "1066-10-14T00:00:00Z")
			says(t, exitDone, dsn, "enqueue", "good", "--queue", "late", "--at", "9999-12-31T23:59:59Z")
		}
		p := start(t, config, "", "--until-empty", "--format", "json", "--store", dsn)
		p.exit(exitFailed)
		s := p.summary()
		if s.Jobs["succeeded"] != 6 || s.Jobs["dead-lettered"] != 6 || len(s.Halted) > 0 {
			t.Errorf("the summary is %+v", s)
		}
		for _, f := range s.Failed {
			if len(f.Error) > 17_000 || strings.Contains(f.Error, "\x00") {
				t.Errorf("%s failed with %.100q", f.Name, f.Error)
			}
		}
		if out := says(t, exitDone, dsn, "jobs", "ls", "--queue", "late"); strings.Count(out, "9999-12-31T23:59:59Z") != 2 {
			t.Errorf("printed was\n%s", out)
		}
	})
}
