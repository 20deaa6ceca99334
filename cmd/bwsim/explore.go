package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"backwave/sim/explore"
)

type exploreFlags struct {
	world   explore.Options
	kinds   string
	replies string

	memory     string
	bytes      int64
	depth      int
	checkpoint string
	resume     string
	jobs       int
	format     string

	mutants bool
	only    []string
	atLeast int
	source  string
}

func exploreCommand(s *screen) *cobra.Command {
	f := &exploreFlags{}
	c := &cobra.Command{
		Use:   "explore [PRESET…]",
		Short: "Visit every state of a small world, by the code of production",
		Long: `explore visits every state that a few nodes, a job or two and a budget of faults
can get into: every order in which calls arrive, handlers return, timers fire and
faults strike. The pumps and the memory store are those of production. It is
breadth first: the first violation has a shortest trace, which is told.

A PRESET is a world with a name; without one, flags describe the world. Time
moves in ticks of 20 s, a third of a lease; what else is abstracted from is said
with the result. The budget is spent on any of the faults of --kinds:

  crash, pause, lost-reply, late, doubled, drain    the usual ones
  cancel, error, fatal                              only if they are asked for

Presets:
` + presetLines(),
		Example: `  bwsim explore one-fault
  bwsim explore --nodes 2 --tasks 1 --faults 2 --replies fused
  bwsim explore two-faults --checkpoint two.bwx     Ctrl-C, and later
  bwsim explore --resume two.bwx
  bwsim explore --mutants                           plant bugs, find them without a seed`,
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, s, args) },
	}
	f.add(c)
	return c
}

func presetLines() string {
	var b strings.Builder
	for _, p := range explore.Presets() {
		fmt.Fprintf(&b, "  %-17s %s\n", p.Name, p.Text)
	}
	return strings.TrimRight(b.String(), "\n")
}

func (f *exploreFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.IntVar(&f.world.Nodes, "nodes", 2, "nodes, each with one pump")
	fl.IntVar(&f.world.Jobs, "tasks", 1, "jobs, all due at once")
	fl.IntVar(&f.world.Faults, "faults", 1, "how many faults may happen in all")
	fl.StringVar(&f.kinds, "kinds", "", "`LIST` of the faults that may happen, with commas (default the usual ones)")
	fl.StringVar(&f.replies, "replies", "separate", "separate: a call is applied and answered in two events; fused: in one")
	fl.IntVar(&f.world.Pool, "pool", 1, "handlers at once per node")
	fl.IntVar(&f.world.Attempts, "attempts", 2, "attempts after which a job is given up")
	fl.IntVar(&f.world.Sweep, "sweep", 500, "most leases that one sweep disposes of")
	fl.BoolVar(&f.world.Release, "release", false, "drains give leases back")
	fl.BoolVar(&f.world.Finish, "finish", false, "drains let handlers finish, for a tick")
	fl.BoolVar(&f.world.Timeout, "timeout", false, "handlers are told to stop after a tick")
	fl.StringVar(&f.memory, "max-memory", "4G", "`BYTES` that the process may take, about, such as 500M or 4G")
	fl.IntVar(&f.depth, "max-depth", 0, "moves from the first state after which to stop; 0: none")
	fl.StringVar(&f.checkpoint, "checkpoint", "", "write what was found to `FILE` if stopped by Ctrl-C or a limit")
	fl.StringVar(&f.resume, "resume", "", "go on with the search that `FILE` holds")
	fl.StringVar(&f.format, "format", "text", "text or json (a line per world)")
	addJobs(c, &f.jobs, "workers at once")
	fl.BoolVar(&f.mutants, "mutants", false, "plant bugs and search the presets of one fault, and a few more, for each")
	fl.StringSliceVar(&f.only, "only", nil, "with --mutants: only the mutant `NAME`; may be repeated")
	fl.IntVar(&f.atLeast, "at-least", 0, "with --mutants: how many must be found, else exit code 1")
	fl.StringVar(&f.source, "source", "", "with --mutants: `DIR` of the source tree")
}

// worldFlags are those that a preset, or a checkpoint, stands for.
var worldFlags = []string{"nodes", "tasks", "faults", "kinds", "replies", "pool", "attempts", "sweep", "release", "finish", "timeout"}

func (f *exploreFlags) run(c *cobra.Command, s *screen, args []string) (err error) {
	if f.format != "text" && f.format != "json" {
		return usage("--format %s: want text or json", f.format)
	}
	if f.jobs < 1 || f.depth < 0 {
		return usage("--jobs %d --max-depth %d: want at least 1 and 0", f.jobs, f.depth)
	}
	if f.bytes, err = parseBytes(f.memory); err != nil {
		return usage("--max-memory %s: %v", f.memory, err)
	}
	named := len(args) > 0 || f.resume != "" || f.mutants
	for _, name := range worldFlags {
		if named && c.Flags().Changed(name) {
			return usage("--%s: a preset, a checkpoint or the mutants choose the world themselves", name)
		}
	}
	if f.mutants {
		return f.hunt(c.Context(), s)
	}
	worlds, err := f.worlds(args)
	if err != nil {
		return err
	}
	return f.session(c.Context(), s, worlds)
}

// worlds returns the searches that were asked for, begun.
func (f *exploreFlags) worlds(args []string) (out []explore.Options, err error) {
	switch {
	case f.resume != "" && len(args) > 0:
		return nil, usage("--resume goes on with one world, and a preset is another")
	case f.checkpoint != "" && len(args) > 1:
		return nil, usage("--checkpoint holds one world; %d were asked for", len(args))
	case f.resume != "":
		return []explore.Options{{}}, nil
	case len(args) > 0:
		for _, name := range args {
			o, ok := preset(name)
			if !ok {
				return nil, usage("there is no preset %q; see bwsim explore --help", name)
			}
			out = append(out, o)
		}
		return out, nil
	}
	o := f.world
	if f.kinds != "" {
		if o.Kinds, err = explore.ParseKinds(f.kinds); err != nil {
			return nil, usage("--kinds: %v", err)
		}
	}
	switch f.replies {
	case "separate":
	case "fused":
		o.Fused = true
	default:
		return nil, usage("--replies %s: want separate or fused", f.replies)
	}
	if err := o.Validate(); err != nil {
		return nil, usage("%v", err)
	}
	return []explore.Options{o.Resolved()}, nil
}

func preset(name string) (explore.Options, bool) {
	for _, p := range explore.Presets() {
		if p.Name == name {
			return p.Options, true
		}
	}
	return explore.Options{}, false
}

// parseBytes reads a size such as 500M or 4G.
func parseBytes(text string) (int64, error) {
	shift := 0
	number := text
	switch {
	case strings.HasSuffix(text, "M"):
		shift, number = 20, strings.TrimSuffix(text, "M")
	case strings.HasSuffix(text, "G"):
		shift, number = 30, strings.TrimSuffix(text, "G")
	}
	n, err := strconv.ParseInt(number, 10, 32)
	if err != nil || n < 1 || shift == 0 {
		return 0, errors.New("want a number of megabytes or gigabytes, such as 500M or 4G")
	}
	return n << shift, nil
}

func megabytes(n int64) string { return grouped(uint64(n>>20)) + " MB" }
