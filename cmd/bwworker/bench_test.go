//go:build unix

package main

import (
	"context"
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// left lists what bench has made on a store and not removed.
func left(t *testing.T, dsn string) (names []string) {
	t.Helper()
	if file, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
		names, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*bench*"))
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	conn, err := pgx.Connect(t.Context(), with(t, dsn, func(u *url.URL) { u.RawQuery = "sslmode=disable" }))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.Background()) }()
	rows, _ := conn.Query(t.Context(), "select nspname from pg_namespace where nspname like 'backwave_bench%'")
	if names, err = pgx.CollectRows(rows, pgx.RowTo[string]); err != nil {
		t.Fatal(err)
	}
	return names
}

func TestBenchLeavesAStoreAsItWas(t *testing.T) {
	everyStore(t, func(t *testing.T, dsn string) {
		says(t, exitDone, dsn, "enqueue", benchName, "--queue", benchQueue, "--id", someID)
		out := says(t, exitDone, dsn, "bench", "--jobs", "700", "--for", "1s", "--rate", "50", "--pumps", "2", "--pool", "30", "--batch", "100", "--format", "json")
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if len(lines) != 4 || !strings.Contains(lines[0], `"pumps":2,"pool":30,"batch":100}`) {
			t.Fatalf("printed was\n%s", out)
		}
		for i, want := range []figure{{Step: "enqueue", Jobs: 700}, {Step: "drain", Jobs: 700}, {Step: "start", Jobs: 50}} {
			var f figure
			if err := json.Unmarshal([]byte(lines[i+1]), &f); err != nil || f.Step != want.Step || f.Jobs != want.Jobs || f.Seconds <= 0 || f.Rate <= 0 {
				t.Errorf("step %d is %s, %v; want %+v", i, lines[i+1], err, want)
			}
			if is := 0 < f.P50 && f.P50 <= f.P99 && f.P99 <= f.Max; is != (f.Step == "start") {
				t.Errorf("the percentiles are %s", lines[i+1])
			}
		}
		if out := says(t, exitDone, dsn, "queues", "ls", "--format", "json"); out != `{"queue":"bench","paused":false,"jobs":{"scheduled":1}}`+"\n" {
			t.Errorf("the queues are\n%s", out)
		}
		if names := left(t, dsn); len(names) > 0 {
			t.Errorf("left behind are %q", names)
		}
	})
}

func TestBenchRemovesItsStoreWhenItIsInterrupted(t *testing.T) {
	everyStore(t, func(t *testing.T, dsn string) {
		p := command(t, "", "bench", "--jobs", "10", "--for", "1h", "--store", dsn)
		p.see("which is removed at the end")
		if names := left(t, dsn); len(names) != 1 {
			t.Errorf("in use are %q, want one", names)
		}
		p.see("bench: start")
		p.signal(os.Interrupt)
		p.exit(exitFailed)
		if log := p.log(); !strings.Contains(log, "interrupted") {
			t.Errorf("standard error is %q", log)
		}
		if names := left(t, dsn); len(names) > 0 {
			t.Errorf("left behind are %q", names)
		}
	})
}

func TestBenchOverMemory(t *testing.T) {
	b := newBench(t)
	b.open = openStore
	out := b.run(exitDone, "bench --store memory: --jobs 100 --for 1s --rate 20")
	b.shows(out, "memory, ", "STEP     JOBS  SECONDS  JOBS/S", "\nenqueue  100", "\ndrain    100", "\nstart    20 ", "They are worth comparing with another run on the same machine")
	b.run(exitUsage, "bench --store memory: --jobs 0 --rate 100000 --pumps -1 --for 1ms")
	b.says("--jobs is 0", "--rate is 100000", "--pumps is -1", "--for is 1ms")
	b.run(exitUsage, "bench --store memory: --pool 10001")
	b.says("PoolSize")
	b.run(exitUsage, "bench --store memory: --format yaml")
	b.says(`--format is "yaml", want table or json`)
	b.run(exitUnreachable, "bench --store postgres://127.0.0.1:9/db")
}
