// Command bench measures BackWave beside River, graphile-worker and pg-boss on
// one PostgreSQL server, all durable, in alternating runs, and prints ratios.
// See docs/benchmarks.md.
//
//	bench drain|steady|enqueue|latency|idle|claims|calls|payload|scale|all [--systems A,B] [--jobs N] [--runs K] [--for D] [--big N]
//	      [--url URL] [--dir DIR] [--format text|markdown|json] [--save FILE]
//
// Without --url it starts a server of its own from the binaries it finds, and
// removes it at the end. The role of --url must be allowed to checkpoint, and
// what is in its schemas bench_backwave, bench_river, bench_graphile and
// bench_pgboss is dropped.
package main

import (
	"context"
	"errors"
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

func run(ctx context.Context, args []string, out io.Writer) error {
	todo, o, err := parse(args)
	if err != nil {
		return err
	}
	var failed error
	for _, b := range todo {
		r, err := b.run(ctx, o.of(b))
		if err == nil {
			err = r.write(out, o.format)
		}
		if err == nil && o.save != "" {
			err = r.appendTo(o.save)
		}
		if err != nil { // the others may be worth their hour
			failed = errors.Join(failed, fmt.Errorf("%s: %w", b.name, err))
		}
		if ctx.Err() != nil {
			break
		}
	}
	return failed
}

// run measures all runs of a benchmark on one server.
func (b *benchmark) run(ctx context.Context, o *options) (*results, error) {
	url := o.url
	if url == "" {
		srv, err := startServer(o.dir, b.settings...)
		if err != nil {
			return nil, fmt.Errorf("start a server: %w", err)
		}
		defer srv.stop()
		url = srv.url
	}
	m, err := newMeter(ctx, url)
	if err != nil {
		return nil, err
	}
	defer m.close()
	if o.url == "" {
		if err := m.makeLogFiles(ctx); err != nil {
			return nil, err
		}
	}
	where, err := m.surroundings(ctx)
	if err != nil {
		return nil, err
	}
	r := newResults(b, o, where)
	r.systems, r.leftOut = b.taking(ctx, o)
	for name, version := range o.tuning.node.pinned {
		where[name] = version
	}
	for i := range o.runs {
		for _, s := range slices.Clone(r.systems) {
			fmt.Fprintf(os.Stderr, "%s, run %d of %d: %s\n", b.name, i+1, o.runs, s.name)
			got, err := b.once(ctx, m, s, o)
			if err != nil {
				err = fmt.Errorf("%s, run %d: %w", s.name, i+1, err)
				if !s.node || ctx.Err() != nil {
					return nil, err
				}
				r.drop(s.name, err)
				continue
			}
			r.add(s.name, got)
		}
	}
	return r, nil
}

// taking are the systems that take part, and why the others do not although
// they were wanted.
func (b *benchmark) taking(ctx context.Context, o *options) (in []system, out []string) {
	var missing error
	prepared := false
	for _, s := range b.systems {
		if !o.wants(s.name) {
			continue
		}
		if s.node && !prepared {
			missing, prepared = o.tuning.node.prepare(ctx), true
		}
		if s.node && missing != nil {
			out = append(out, leftOut(s.name, missing))
			continue
		}
		in = append(in, s)
	}
	return in, out
}

// leftOut says, at once and in the results, that a system takes no part.
func leftOut(name string, why error) string {
	text := fmt.Sprintf("%s is left out: %v", name, why)
	fmt.Fprintln(os.Stderr, text)
	return text
}
