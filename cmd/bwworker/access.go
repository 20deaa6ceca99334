package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"backwave/store"
)

// access is how the commands that run no jobs reach a store.
type access struct {
	store   string
	config  string
	wait    time.Duration
	timeout time.Duration
	record  string // of the commands that change something
	format  string
}

// flags adds the flags that these commands share.
func (x *access) flags(c *cobra.Command) {
	x.storeFlags(c)
	c.Flags().DurationVar(&x.timeout, "timeout", 30*time.Second, "how long to wait for answers")
}

// storeFlags adds those about the store and the output.
func (x *access) storeFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&x.store, "store", "", "`DSN` of the store: "+dsnForms())
	f.StringVarP(&x.config, "config", "c", "", "configuration `FILE` whose store is meant, if neither --store nor BW_STORE says")
	f.DurationVar(&x.wait, "wait", 0, "how long to wait for a store that is not up yet")
	f.StringVar(&x.format, "format", "table", "`FORMAT` of the output: table, or json: one object a line")
}

// use opens the store and lets do use it, until it is done, time is up or a
// signal comes.
func (a *app) use(x *access, given func(flag string) bool, do func(context.Context, *opened) error) error {
	s, err := a.settings(x, given)
	if err != nil {
		return &exitError{exitUsage, err}
	}
	a.stderr.hideDSN(s.store)
	a.stderr.hideDSN(s.direct)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	log := slog.New(logHandler(&s, a.stderr))
	st, err := reach(ctx, a.open, s.target(0), s.wait, log)
	if err != nil {
		return err
	}
	defer st.close()
	if st.local {
		return usageError("the store %s lives and dies with one process, and no other sees it: name another one", maskDSN(s.store))
	}
	end, err := st.record(x.record, log)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, x.timeout)
	defer cancel()
	if err = do(ctx, st); err != nil {
		err = storeError(err)
	}
	return orLost(err, end())
}

// checkFormat refuses what no output is printed in.
func checkFormat(format string) error {
	if format != "table" && format != "json" {
		return fmt.Errorf("bwworker: --format is %q, want table or json", format)
	}
	return nil
}

// settings reads what is said of the store.
func (a *app) settings(x *access, given func(flag string) bool) (settings, error) {
	var text []byte
	if err := checkFormat(x.format); err != nil {
		return settings{}, err
	}
	if x.timeout <= 0 || x.wait < 0 {
		return settings{}, errors.New("bwworker: --timeout must be more than 0s, and --wait not less")
	}
	if x.config != "" {
		var err error
		if text, err = os.ReadFile(x.config); err != nil {
			return settings{}, fmt.Errorf("bwworker: configuration: %w", err)
		}
	}
	s, err := readSettings(x.config, text, a.env)
	if err != nil {
		return settings{}, err
	}
	o := options{store: x.store, wait: x.wait}
	o.apply(&s, func(flag string) bool { return (flag == "store" || flag == "wait") && given(flag) })
	return s, nil
}

// storeError gives an error of the store, or of what was asked of it, its exit
// code.
func storeError(err error) error {
	if _, ok := errors.AsType[*exitError](err); ok {
		return err
	}
	err = fmt.Errorf("bwworker: %w", err)
	_, bound := errors.AsType[*store.BoundError](err)
	_, invalid := errors.AsType[*store.InvalidError](err)
	switch {
	case bound || invalid:
		return &exitError{exitUsage, err}
	case store.FaultOf(err).Transient() || errors.Is(err, context.DeadlineExceeded):
		return &exitError{exitUnreachable, err}
	}
	return &exitError{exitFailed, err}
}
