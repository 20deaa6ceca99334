package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"backwave/store"
)

// listOptions are the flags of bwworker jobs ls.
type listOptions struct {
	access
	queue  string
	states []string
	limit  int
}

func (a *app) jobsCommand() *cobra.Command {
	c := &cobra.Command{Use: "jobs", Short: "List, show, cancel and requeue jobs", Args: cobra.NoArgs, RunE: needsCommand}
	c.AddCommand(a.jobsList(), a.jobsShow(), a.jobsCancel(), a.jobsRequeue())
	return c
}

// needsCommand is what a command does that only has subcommands.
func needsCommand(c *cobra.Command, _ []string) error {
	var names []string
	for _, s := range c.Commands() {
		names = append(names, s.Name())
	}
	return usageError("%s needs a command: %s", c.CommandPath(), strings.Join(names, ", "))
}

func (a *app) jobsList() *cobra.Command {
	o := &listOptions{}
	c := &cobra.Command{
		Use:   "ls",
		Short: "List jobs by queue, oldest enqueue first",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			var states []store.State
			for _, text := range o.states {
				var s store.State
				if err := s.UnmarshalText([]byte(text)); err != nil {
					return usageError("--state: %w", err)
				}
				states = append(states, s)
			}
			if o.limit < 1 {
				return usageError("--limit is %d, want at least 1", o.limit)
			}
			return a.use(&o.access, c.Flags().Changed, func(ctx context.Context, st *opened) error {
				return a.listJobs(ctx, st, o, states)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&o.queue, "queue", "", "of this queue only")
	f.StringSliceVar(&o.states, "state", nil, "in these `STATES` only, such as scheduled,executing")
	f.IntVar(&o.limit, "limit", 100, "jobs at most")
	o.flags(c)
	return c
}

func (a *app) listJobs(ctx context.Context, st store.Store, o *listOptions, states []store.State) error {
	queues := []string{o.queue}
	if o.queue == "" {
		queues = nil
		views, err := st.Queues(ctx)
		if err != nil {
			return err
		}
		for _, v := range views {
			queues = append(queues, v.Name)
		}
	}
	p := newPrinter(a.stdout, o.format, "ID", "STATE", "QUEUE", "NAME", "ATTEMPT", "DUE", "ERROR")
	left := o.limit
	for _, q := range queues {
		if left == 0 {
			break
		}
		jobs, err := st.Jobs(ctx, q, states, left)
		if err != nil {
			return err
		}
		left -= len(jobs)
		for _, j := range jobs {
			due := "-"
			if v := viewJob(j); v.Due != "" {
				due = seconds(j.Due)
			}
			p.row(viewJob(j), j.ID.String(), j.State.String(), j.Queue, j.Name, strconv.Itoa(j.Attempt), due, firstLine(j.LastErr))
		}
	}
	return p.flush()
}

func (a *app) jobsShow() *cobra.Command {
	x := &access{}
	c := &cobra.Command{
		Use:   "show ID…",
		Short: "Show all of a job: payload, output, progress, attempts",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			ids, err := parseIDs(args)
			if err != nil {
				return err
			}
			return a.use(x, c.Flags().Changed, func(ctx context.Context, st *opened) error {
				var missing error
				for i, id := range ids {
					j, err := st.Job(ctx, id)
					if errors.Is(err, store.ErrNotFound) {
						missing = errors.Join(missing, fmt.Errorf("job %v: %w", id, err))
						continue
					}
					if err != nil {
						return fmt.Errorf("job %v: %w", id, err)
					}
					if err := a.showJob(viewDetails(j), x.format, i > 0); err != nil {
						return err
					}
				}
				return missing
			})
		},
	}
	x.flags(c)
	return c
}

func (a *app) showJob(d jobDetails, format string, another bool) error {
	if format == "json" {
		p := newPrinter(a.stdout, format)
		p.row(d)
		return p.flush()
	}
	if another {
		fmt.Fprintln(a.stdout)
	}
	return d.write(a.stdout)
}

func (a *app) jobsCancel() *cobra.Command {
	force := false
	c := a.actCommand("cancel ID…", "Cancel jobs: those that wait at once, those that run by asking their worker", "it has ended", func(id string) (store.Command, error) {
		j, err := store.ParseJobID(id)
		return store.Cancel{Job: j, Force: force}, err
	})
	c.Flags().BoolVar(&force, "force", false, "end a running job at once, whatever its worker does")
	return c
}

func (a *app) jobsRequeue() *cobra.Command {
	return a.actCommand("requeue ID…", "Give dead-lettered or quarantined jobs a new life", "it is neither dead-lettered nor quarantined, or another job holds its unique key", func(id string) (store.Command, error) {
		j, err := store.ParseJobID(id)
		return store.Requeue{Job: j}, err
	})
}

func parseIDs(args []string) (ids []store.JobID, errs error) {
	for _, text := range args {
		id, err := store.ParseJobID(text)
		if err != nil {
			errs = errors.Join(errs, fmt.Errorf("bwworker: %w", err))
		}
		ids = append(ids, id)
	}
	if errs != nil {
		return nil, &exitError{exitUsage, errs}
	}
	return ids, nil
}
