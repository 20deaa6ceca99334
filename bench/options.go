package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// options is what the command line says.
type options struct {
	jobs    int // of each run; 0: what the benchmark has for it
	runs    int
	span    time.Duration // of steady
	big     int           // rows, of scale
	systems []string      // nil: all
	url     string
	dir     string
	format  string
	save    string
	tuning  tuning
}

// tuning is what each system may be given to be at its best.
type tuning struct {
	pumps, poolSize, batch int // BackWave
	workers                int // River
	node                   nodeKit
}

// of returns o for one benchmark.
func (o *options) of(b *benchmark) *options {
	own := *o
	if own.jobs == 0 || b.jobs == 0 {
		own.jobs = b.jobs
	}
	return &own
}

func (o *options) wants(name string) bool {
	return o.systems == nil || slices.Contains(o.systems, name)
}

// usage names the benchmarks in the order of all.
func usage(all []*benchmark) string {
	var names []string
	for _, b := range all {
		names = append(names, b.name)
	}
	return "usage: bench " + strings.Join(names, "|") + "|scale|all [flags]; scale is claims, calls and payload; bench all -h lists the flags"
}

var formats = []string{"text", "markdown", "json"}

// parse returns the benchmarks to be run.
func parse(args []string) ([]*benchmark, *options, error) {
	all := benchmarks()
	if len(args) == 0 {
		return nil, nil, fmt.Errorf("no benchmark named\n%s", usage(all))
	}
	var todo []*benchmark
	for _, b := range all {
		if args[0] == "all" || args[0] == "scale" && b.scale || args[0] == b.name {
			todo = append(todo, b)
		}
	}
	if todo == nil {
		return nil, nil, fmt.Errorf("no benchmark %q\n%s", args[0], usage(all))
	}
	o, systems := &options{}, ""
	f := flag.NewFlagSet(args[0], flag.ContinueOnError)
	f.IntVar(&o.jobs, "jobs", 0, "drain, enqueue, latency: jobs of each run; 0: 200,000, 20,000 and 2,000")
	f.IntVar(&o.runs, "runs", 3, "runs of each system, in turn")
	f.DurationVar(&o.span, "for", time.Minute, "steady: length of a run; idle takes a third of it")
	f.IntVar(&o.big, "big", 5_000_000, "scale: rows that wait, and that are finished")
	f.StringVar(&systems, "systems", "", "systems that take part, by name, with commas; default: all; the one that ratios are to should be among them")
	f.StringVar(&o.url, "url", "", "server to use, on this machine; default: one of our own")
	f.StringVar(&o.dir, "dir", os.TempDir(), "where a server of our own keeps its data; must be on a disk")
	f.StringVar(&o.format, "format", "text", strings.Join(formats, ", "))
	f.StringVar(&o.save, "save", "", "file to which the results are appended as JSON lines, each benchmark when it ends")
	f.IntVar(&o.tuning.pumps, "pumps", 2, "drain, steady: BackWave, pumps")
	f.IntVar(&o.tuning.poolSize, "pool-size", 4000, "drain, steady: BackWave, handlers at once of each pump")
	f.IntVar(&o.tuning.batch, "batch", 2000, "drain, steady: BackWave, most jobs of a claim or report")
	f.IntVar(&o.tuning.workers, "workers", 1000, "drain, steady, latency: River, jobs at once")
	f.StringVar(&o.tuning.node.dir, "node-dir", "node", "folder of the drivers that run on Node.js")
	if err := f.Parse(args[1:]); err != nil {
		return nil, nil, err
	}
	if systems != "" {
		o.systems = strings.Split(systems, ",")
	}
	if f.NArg() > 0 {
		return nil, nil, fmt.Errorf("unexpected %q\n%s", f.Args(), usage(all))
	}
	if err := o.check(todo); err != nil {
		return nil, nil, err
	}
	return slices.DeleteFunc(todo, func(b *benchmark) bool { return !b.hasAny(o) }), o, nil
}

func (o *options) check(todo []*benchmark) (err error) {
	wrong := func(format string, args ...any) { err = errors.Join(err, fmt.Errorf(format, args...)) }
	if o.runs < 1 || o.jobs < 0 {
		wrong("--runs must be at least 1, --jobs not negative")
	}
	if o.span < time.Second {
		wrong("--for is %v, want at least 1s", o.span)
	}
	if o.big < scaleBase || o.big > mostRows {
		wrong("--big is %d, want %d to %d", o.big, scaleBase, mostRows)
	}
	if o.tuning.pumps < 1 { // what else is wrong with the tuning the systems say
		wrong("--pumps must be at least 1")
	}
	if !slices.Contains(formats, o.format) {
		wrong("--format is %q, want one of %s", o.format, strings.Join(formats, ", "))
	}
	var known []string
	for _, b := range todo {
		for _, s := range b.systems {
			known = append(known, s.name)
		}
	}
	for _, name := range o.systems {
		if !slices.Contains(known, name) {
			slices.Sort(known)
			wrong("no system %q; there are: %s", name, strings.Join(slices.Compact(known), ", "))
		}
	}
	return err
}

// hasAny reports whether a system that is wanted takes part in b.
func (b *benchmark) hasAny(o *options) bool {
	return slices.ContainsFunc(b.systems, func(s system) bool { return o.wants(s.name) })
}
