package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"backwave/store"
)

// busyPause is how long a command that met a held row waits before it asks
// again.
const busyPause = 50 * time.Millisecond

// actCommand is a command that does one thing to each of its arguments. refusal
// says when the store refuses it.
func (a *app) actCommand(use, about, refusal string, parse func(arg string) (store.Command, error)) *cobra.Command {
	x, actor := &access{}, ""
	c := &cobra.Command{
		Use:   use,
		Short: about,
		Args:  cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			commands := make([]store.Command, len(args))
			var errs error
			for i, arg := range args {
				var err error
				if commands[i], err = parse(arg); err != nil {
					errs = errors.Join(errs, fmt.Errorf("bwworker: %w", err))
				}
			}
			if errs != nil {
				return &exitError{exitUsage, errs}
			}
			return a.use(x, c.Flags().Changed, func(ctx context.Context, st *opened) error {
				return a.act(ctx, st, &acting{x.format, actor, refusal}, args, commands)
			})
		},
	}
	c.Flags().StringVar(&actor, "actor", whoami(), "who is audited as having done it")
	c.Flags().StringVar(&x.record, "record", "", recordUsage)
	x.flags(c)
	return c
}

// whoami names the person at the keyboard.
func whoami() string {
	name, host := "unknown", "unknown"
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	if h, err := os.Hostname(); err == nil {
		host = h
	}
	return name + "@" + host
}

// actResult is what became of one command.
type actResult struct {
	Of     string         `json:"of"` // the argument
	Result store.DoResult `json:"result"`
}

// acting is what is the same for all arguments.
type acting struct{ format, actor, refusal string }

// act carries out the commands one by one. It fails if one was refused, after
// it has tried them all.
func (a *app) act(ctx context.Context, st store.Store, how *acting, args []string, commands []store.Command) error {
	p := newPrinter(a.stdout, how.format, "OF", "RESULT")
	var errs error
	for i, c := range commands {
		result, err := do(ctx, st, how.actor, c)
		if err != nil {
			return errors.Join(errs, p.flush(), fmt.Errorf("%s: %w", args[i], err))
		}
		p.row(actResult{args[i], result}, args[i], result.String())
		if result == store.DoNotFound {
			errs = errors.Join(errs, fmt.Errorf("%s: %v", args[i], result))
		}
		if result == store.DoRefused {
			errs = errors.Join(errs, fmt.Errorf("%s: %v: %s", args[i], result, how.refusal))
		}
	}
	return errors.Join(errs, p.flush())
}

// do sends one command, under one request id, until it is answered.
func do(ctx context.Context, st store.Store, actor string, c store.Command) (store.DoResult, error) {
	request := rand.Text()
	for {
		done, err := st.Do(ctx, &store.Do{Actor: actor, RequestID: request, Command: c})
		switch {
		case err == nil && done.Result != store.DoBusy:
			return done.Result, nil
		case err == nil:
			err = &store.TransientError{Fault: store.FaultLockTimeout, Err: errors.New("somebody holds the row")}
		case !store.FaultOf(err).Transient():
			return 0, err
		}
		select {
		case <-ctx.Done():
			return 0, err
		case <-time.After(busyPause):
		}
	}
}
