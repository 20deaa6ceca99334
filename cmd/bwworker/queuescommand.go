package main

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"backwave/store"
)

func (a *app) queuesCommand() *cobra.Command {
	c := &cobra.Command{Use: "queues", Short: "List, pause and resume queues", Args: cobra.NoArgs, RunE: needsCommand}
	c.AddCommand(
		a.queuesList(),
		a.actCommand("pause QUEUE…", "Stop claims from queues; running jobs go on", "", func(q string) (store.Command, error) {
			return store.Pause{Queue: q}, nil
		}),
		a.actCommand("resume QUEUE…", "Undo pause", "", func(q string) (store.Command, error) {
			return store.Resume{Queue: q}, nil
		}),
	)
	return c
}

// queueView is a queue as queues ls prints it.
type queueView struct {
	Queue  string              `json:"queue"`
	Paused bool                `json:"paused"`
	Jobs   map[store.State]int `json:"jobs"`
}

func (a *app) queuesList() *cobra.Command {
	x := &access{}
	c := &cobra.Command{
		Use:   "ls",
		Short: "List queues with their jobs by state",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return a.use(x, c.Flags().Changed, func(ctx context.Context, st *opened) error {
				return a.listQueues(ctx, st, x.format)
			})
		},
	}
	x.flags(c)
	return c
}

func (a *app) listQueues(ctx context.Context, st store.Store, format string) error {
	views, err := st.Queues(ctx)
	if err != nil {
		return err
	}
	p := newPrinter(a.stdout, format, "QUEUE", "PAUSED", "SCHEDULED", "EXECUTING", "SUCCEEDED", "CANCELLED", "DEAD-LETTERED", "QUARANTINED")
	for _, v := range views {
		paused := "-"
		if v.Paused {
			paused = "paused"
		}
		cells := []string{v.Name, paused}
		for _, s := range []store.State{store.Scheduled, store.Executing, store.Succeeded, store.Cancelled, store.DeadLettered, store.Quarantined} {
			cells = append(cells, strconv.Itoa(v.Jobs[s]))
		}
		p.row(queueView{v.Name, v.Paused, v.Jobs}, cells...)
	}
	return p.flush()
}
