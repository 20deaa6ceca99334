// Command bench measures BackWave beside River on one PostgreSQL server, both
// durable, in alternating runs, and prints ratios. See docs/benchmarks.md.
//
//	bench drain|enqueue|latency|idle [--jobs N] [--runs K] [--url URL] [--dir DIR] [--format text|json]
//
// Without --url it starts a server of its own from the binaries it finds, and
// removes it at the end. The role of --url must be allowed to checkpoint, and
// what is in its schemas bench_backwave and bench_river is dropped.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options is what the command line says.
type options struct {
	jobs   int
	runs   int
	url    string
	dir    string
	json   bool
	tuning tuning
}

// tuning is what each system may be given to be at its best.
type tuning struct {
	pumps, poolSize, batch int // BackWave
	workers                int // River
}

const usage = "usage: bench drain|enqueue|latency|idle [--jobs N] [--runs K] [--url URL] [--dir DIR] [--format text|json]"

func parse(args []string) (*benchmark, *options, error) {
	if len(args) == 0 {
		return nil, nil, fmt.Errorf("no benchmark named\n%s", usage)
	}
	all := benchmarks()
	i := slices.IndexFunc(all, func(b *benchmark) bool { return b.name == args[0] })
	if i < 0 {
		return nil, nil, fmt.Errorf("no benchmark %q\n%s", args[0], usage)
	}
	b, o, format := all[i], &options{}, ""
	f := flag.NewFlagSet(b.name, flag.ContinueOnError)
	f.IntVar(&o.jobs, "jobs", b.jobs, "jobs of each run")
	f.IntVar(&o.runs, "runs", 3, "runs of each system, in turn")
	f.StringVar(&o.url, "url", "", "server to use, on this machine; default: one of our own")
	f.StringVar(&o.dir, "dir", os.TempDir(), "where a server of our own keeps its data; must be on a disk")
	f.StringVar(&format, "format", "text", "text or json")
	f.IntVar(&o.tuning.pumps, "pumps", 2, "drain: BackWave, pumps")
	f.IntVar(&o.tuning.poolSize, "pool-size", 4000, "drain: BackWave, handlers at once of each pump")
	f.IntVar(&o.tuning.batch, "batch", 2000, "drain: BackWave, most jobs of a claim or report")
	f.IntVar(&o.tuning.workers, "workers", 1000, "drain, latency: River, jobs at once")
	if err := f.Parse(args[1:]); err != nil {
		return nil, nil, err
	}
	o.json = format == "json"
	switch {
	case f.NArg() > 0:
		return nil, nil, fmt.Errorf("unexpected %q\n%s", f.Args(), usage)
	case o.runs < 1 || o.jobs < min(b.jobs, 1):
		return nil, nil, fmt.Errorf("--jobs and --runs must be at least 1")
	case o.tuning.pumps < 1: // what else is wrong with the tuning the systems say
		return nil, nil, fmt.Errorf("--pumps must be at least 1")
	case format != "text" && format != "json":
		return nil, nil, fmt.Errorf("--format is %q, want text or json", format)
	}
	return b, o, nil
}

func run(ctx context.Context, args []string, out io.Writer) error {
	b, o, err := parse(args)
	if err != nil {
		return err
	}
	url := o.url
	if url == "" {
		srv, err := startServer(o.dir)
		if err != nil {
			return fmt.Errorf("start a server: %w", err)
		}
		defer srv.stop()
		url = srv.url
	}
	m, err := newMeter(ctx, url)
	if err != nil {
		return err
	}
	defer m.close()
	if o.url == "" {
		if err := m.makeLogFiles(ctx); err != nil {
			return err
		}
	}
	where, err := m.surroundings(ctx)
	if err != nil {
		return err
	}
	res := newResults(b, o, where)
	for i := range o.runs {
		for _, s := range b.systems {
			fmt.Fprintf(os.Stderr, "run %d of %d: %s\n", i+1, o.runs, s.name)
			got, err := b.once(ctx, m, s, o, url)
			if err != nil {
				return fmt.Errorf("%s, run %d: %w", s.name, i+1, err)
			}
			res.add(s.name, got)
		}
	}
	if o.json {
		return res.writeJSON(out)
	}
	return res.writeText(out)
}
