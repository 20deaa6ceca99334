package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"backwave/sim/explore"
)

// session searches the worlds one after the other.
func (f *exploreFlags) session(ctx context.Context, s *screen, worlds []explore.Options) error {
	// States are bytes and the table holds no pointers: collecting often is cheap.
	debug.SetGCPercent(25)
	debug.SetMemoryLimit(f.bytes)
	code := exitHeld
	for i, o := range worlds {
		search, err := f.begin(o)
		if err != nil {
			return err
		}
		if i > 0 && f.format == "text" {
			s.printf("\n")
		}
		r := f.search(ctx, s, search)
		if err := r.report(s, f.format); err != nil {
			return err
		}
		s.flush()
		switch {
		case r.verdict == explore.Violated:
			code = exitViolated
		case code == exitViolated:
		case r.verdict == explore.Stopped:
			code = exitCannot
		case r.verdict != explore.Exhausted && code == exitHeld:
			code = exitUndecided
		}
		if err := f.keep(s, r); err != nil {
			return err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return verdict(code)
}

func (f *exploreFlags) begin(o explore.Options) (*explore.Search, error) {
	if f.resume == "" {
		return explore.New(o), nil
	}
	program, err := programHash()
	if err != nil {
		return nil, cannot("%v", err)
	}
	file, err := os.Open(f.resume)
	if err != nil {
		return nil, cannot("%v", err)
	}
	defer file.Close() //nolint:errcheck // it was only read
	search, err := explore.Resume(file, program)
	if err != nil {
		return nil, &exitError{exitUsage, fmt.Sprintf("%s: %v", f.resume, err)}
	}
	return search, nil
}

// explored is what came of one world.
type explored struct {
	s       *explore.Search
	verdict explore.Verdict
	wall    time.Duration
	jobs    int
	before  uint64 // states that were found when it was begun, or gone on with
}

// search runs one search, and shows how far it is.
func (f *exploreFlags) search(ctx context.Context, s *screen, search *explore.Search) *explored {
	r := &explored{s: search, jobs: f.jobs, before: search.Progress().States}
	began := time.Now()
	done := make(chan explore.Verdict)
	go func() {
		done <- search.Run(explore.Limits{
			Workers: f.jobs, Memory: f.bytes / 4 * 3, Depth: f.depth,
			Stop: func() bool { return ctx.Err() != nil },
		})
	}()
	tick := time.NewTicker(s.pace())
	defer tick.Stop()
	for {
		select {
		case r.verdict = <-done:
			r.wall = time.Since(began)
			return r
		case <-tick.C:
			p := search.Progress()
			rate := float64(p.States-r.before) / time.Since(began).Seconds()
			s.progress(fmt.Sprintf("depth %d: %s states (%s/s), frontier %s + %s, %s, %.0f s",
				p.Depth, grouped(p.States), grouped(uint64(rate)), grouped(p.Waiting), grouped(p.Frontier), megabytes(p.Memory), time.Since(began).Seconds()))
		}
	}
}

// keep writes a checkpoint of a search that did not come to an end.
func (f *exploreFlags) keep(s *screen, r *explored) error {
	if f.checkpoint == "" || r.verdict == explore.Exhausted || r.verdict == explore.Violated {
		return nil
	}
	program, err := programHash()
	if err != nil {
		return cannot("%v", err)
	}
	part := f.checkpoint + ".part"
	file, err := os.Create(part)
	if err != nil {
		return cannot("%v", err)
	}
	err = errors.Join(r.s.Save(file, program), file.Close())
	if err == nil {
		err = os.Rename(part, f.checkpoint)
	}
	if err != nil {
		return cannot("%v", err)
	}
	s.note("kept in %s; go on with: bwsim explore --resume %s", f.checkpoint, quote(f.checkpoint))
	return nil
}

// programHash tells builds of this program apart.
func programHash() (string, error) {
	name, err := os.Executable()
	if err != nil {
		return "", err
	}
	if name, err = filepath.EvalSymlinks(name); err != nil {
		return "", err
	}
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // it was only read
	h := sha256.New()
	if _, err := io.Copy(h, file); err != nil {
		return "", err
	}
	return fmt.Sprintf("%x", h.Sum(nil)), nil
}
