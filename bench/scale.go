package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"backwave/engine"
	"backwave/store"
)

// What scale measures with.
const (
	scaleBase = 10_000 // jobs that wait where nothing else is said
	claimSize = 100
	warm      = 5  // calls before those that are measured
	samples   = 51 // calls that are measured
	lapsed    = 1000
)

// sizes are how many rows the benchmarks of scale have.
type sizes struct {
	many   int // waiting, or finished
	front  int // leased in front, or finished under an open snapshot
	sweeps int // waiting while swept
	renew  int // leases of one renewal
	alive  int // leases that are not
	loads  int // jobs of each size of payload
}

func sizesOf(o *options) sizes {
	return sizes{
		many: o.big, front: min(o.big, 100_000), sweeps: min(o.big, 1_000_000),
		renew: min(o.big, store.MaxBatch), alive: min(o.big, 20_000) / 2, loads: min(o.big, 20_000),
	}
}

func (s sizes) String() string {
	n := func(x int) string { return number(float64(x), 0) }
	return fmt.Sprintf("many are %s, in front are %s, swept are %s, renewed are %s", n(s.many), n(s.front), n(s.sweeps), n(s.renew))
}

// scaleBenchmarks measure single calls of the store, by what the server says of
// them. Their systems are the states of a queue, or the calls.
func scaleBenchmarks() []*benchmark {
	statistics := []string{"shared_preload_libraries=pg_stat_statements"}
	call := func(measure func(r *rig, ctx context.Context, s sizes) (values, error), waiting func(s sizes) int) func(context.Context, *meter, *options) (values, error) {
		return func(ctx context.Context, m *meter, o *options) (v values, err error) {
			s := sizesOf(o)
			err = m.onRig(ctx, waiting(s), func(r *rig) error {
				v, err = measure(r, ctx, s)
				return err
			})
			return v, err
		}
	}
	renewed := func(s sizes) int { return s.renew }
	swept := func(s sizes) int { return s.sweeps }
	base := func(sizes) int { return scaleBase }
	return []*benchmark{
		{
			name: "claims", scale: true, peer: "10k waiting", settings: statistics,
			systems: []system{
				{name: "10k waiting", alone: call(claimsAfter((*rig).addNothing), base)},
				{name: "many waiting", alone: call(claimsAfter((*rig).waitMore), base)},
				{name: "many finished kept", alone: call(claimsAfter((*rig).keepFinished), base)},
				{name: "many leased in front", alone: call(claimsAfter((*rig).leaseInFront), base)},
				{name: "many finished under a snapshot", alone: call(claimsAfter((*rig).finishUnderSnapshot), base)},
			},
			figures: []figure{{"server ms", 3}, {"mean server ms", 3}, {"worst server ms", 2}, {"buffers", 0}, {"round trip ms", 2}},
		},
		{
			name: "calls", scale: true, settings: statistics,
			systems: []system{
				{name: "renew", alone: call((*rig).measureRenewals, renewed)},
				{name: "sweep with nothing lapsed", alone: call((*rig).measureIdleSweeps, swept)},
				{name: "sweep of 1k lapsed", alone: call((*rig).measureSweeps, swept)},
			},
			figures: []figure{{"server ms", 2}, {"worst server ms", 2}, {"buffers", 0}, {"WAL kB", 0}, {"round trip ms", 2}},
		},
		{
			name: "payload", scale: true, settings: statistics,
			systems: []system{{name: "backwave", alone: payloads}},
			figures: []figure{
				{"100 B: enqueue, WAL B/job", 0},
				{"100 B: finish, WAL B/job", 0},
				{"1,000 B: enqueue, WAL B/job", 0},
				{"1,000 B: finish, WAL B/job", 0},
				{"times written", 2},
			},
		},
	}
}

// calls are what some calls of one kind have cost.
type calls []spent

// do makes a call, and counts it unless it is one of the first, which plan.
func (c *calls) do(ctx context.Context, m *meter, count bool, call func() error) error {
	used, err := m.call(ctx, call)
	if err == nil && count {
		*c = append(*c, used)
	}
	return err
}

// values are the medians, unless the name says otherwise.
func (c calls) values() values {
	of := func(f func(spent) float64) (all []float64) {
		for _, s := range c {
			all = append(all, f(s))
		}
		return all
	}
	ms := of(func(s spent) float64 { return s.ms })
	sum := 0.0
	for _, x := range ms {
		sum += x
	}
	return values{
		"server ms": spreadOf(ms).Median, "mean server ms": sum / float64(len(ms)), "worst server ms": spreadOf(ms).Max,
		"buffers":       spreadOf(of(func(s spent) float64 { return s.buffers })).Median,
		"WAL kB":        spreadOf(of(func(s spent) float64 { return s.wal / 1e3 })).Median,
		"round trip ms": spreadOf(of(func(s spent) float64 { return s.trip.Seconds() * 1e3 })).Median,
	}
}

// claimsAfter adds to a queue of 10,000, and then claims 100 and reports them,
// again and again. Only the claims count.
func claimsAfter(prepare func(r *rig, ctx context.Context, s sizes) error) func(r *rig, ctx context.Context, s sizes) (values, error) {
	return func(r *rig, ctx context.Context, s sizes) (values, error) {
		if err := prepare(r, ctx, s); err != nil {
			return nil, err
		}
		var all calls
		for i := range warm + samples {
			var leases []store.Lease
			err := all.do(ctx, r.m, i >= warm, func() (err error) {
				leases, err = r.claim(ctx, "measured", claimSize, time.Minute)
				return err
			})
			if err == nil && len(leases) != claimSize {
				err = fmt.Errorf("a claim took %d jobs, want %d", len(leases), claimSize)
			}
			if err == nil {
				err = r.succeed(ctx, "measured", leases)
			}
			if err != nil {
				return nil, err
			}
		}
		return all.values(), nil
	}
}

func (r *rig) addNothing(context.Context, sizes) error { return nil }

func (r *rig) waitMore(ctx context.Context, s sizes) error {
	return r.fillWaiting(ctx, s.many-scaleBase)
}

func (r *rig) keepFinished(ctx context.Context, s sizes) error { return r.fillFinished(ctx, s.many) }

// leaseInFront has another worker lease jobs that are due before the others.
func (r *rig) leaseInFront(ctx context.Context, s sizes) error {
	if err := r.fillWaiting(ctx, s.front); err != nil {
		return err
	}
	_, err := r.claimAll(ctx, "other", s.front, time.Hour)
	return err
}

// finishUnderSnapshot finishes jobs while a transaction keeps every version
// of their rows from being removed.
func (r *rig) finishUnderSnapshot(ctx context.Context, s sizes) error {
	if err := r.fillWaiting(ctx, s.front); err != nil {
		return err
	}
	if err := r.holdSnapshot(ctx); err != nil {
		return err
	}
	return r.finishAll(ctx, s.front)
}

// measureRenewals renews all leases of a worker, again and again.
func (r *rig) measureRenewals(ctx context.Context, s sizes) (values, error) {
	leases, err := r.claimAll(ctx, "renewing", s.renew, time.Minute)
	if err != nil {
		return nil, err
	}
	ask := &store.Renew{Worker: "renewing", Lease: 10 * time.Minute}
	for _, l := range leases {
		ask.Rows = append(ask.Rows, store.RenewRow{Key: l.Key})
	}
	var all calls
	for i := range 1 + 9 {
		if err := all.do(ctx, r.m, i > 0, func() error {
			got, err := r.st.Renew(ctx, ask)
			if err == nil && slices.ContainsFunc(got.Rows, func(a store.RenewAnswer) bool { return a.Status != store.RenewOK }) {
				err = fmt.Errorf("a lease was not renewed")
			}
			return err
		}); err != nil {
			return nil, err
		}
	}
	return all.values(), nil
}

// measureIdleSweeps sweeps while leases live and none has lapsed.
func (r *rig) measureIdleSweeps(ctx context.Context, s sizes) (values, error) {
	return r.sweeps(ctx, s, 1+21, 0)
}

// measureSweeps sweeps after some leases have lapsed, beside others that live.
func (r *rig) measureSweeps(ctx context.Context, s sizes) (values, error) {
	return r.sweeps(ctx, s, 1+5, lapsed)
}

// sweeps lets n leases lapse before each of its sweeps.
func (r *rig) sweeps(ctx context.Context, s sizes, times, n int) (values, error) {
	if _, err := r.claimAll(ctx, "alive", s.alive, time.Hour); err != nil {
		return nil, err
	}
	var all calls
	for i := range times {
		if n > 0 {
			if _, err := r.claimAll(ctx, "lost."+strconv.Itoa(i), n, store.MinLease); err != nil {
				return nil, err
			}
			pause(ctx, store.MinLease+100*time.Millisecond)
		}
		if err := all.do(ctx, r.m, i > 0, func() error {
			got, err := r.st.Sweep(ctx, &store.Sweep{Queues: []string{queue}, Max: lapsed})
			if err == nil && len(got.Disposed) != n {
				err = fmt.Errorf("a sweep disposed of %d leases, want %d", len(got.Disposed), n)
			}
			return err
		}); err != nil {
			return nil, err
		}
	}
	return all.values(), nil
}

// payloads compares what jobs with small and with large payloads write.
func payloads(ctx context.Context, m *meter, o *options) (values, error) {
	n := sizesOf(o).loads
	v, both := values{}, map[int]float64{}
	for _, size := range []int{100, 1000} {
		if err := m.onRig(ctx, 0, func(r *rig) error {
			prefix := fmt.Sprintf("%s B: ", number(float64(size), 0))
			in, err := m.measure(ctx, func() error { return r.enqueue(ctx, n, size) })
			if err != nil {
				return err
			}
			out, err := m.measure(ctx, func() error { return r.finishAll(ctx, n) })
			if err != nil {
				return err
			}
			each := func(c cost) float64 { return float64(c.wal) / float64(n) }
			v[prefix+"enqueue, WAL B/job"], v[prefix+"finish, WAL B/job"] = each(in), each(out)
			both[size] = each(in) + each(out)
			return nil
		}); err != nil {
			return nil, fmt.Errorf("payload of %d bytes: %w", size, err)
		}
	}
	v["times written"] = (both[1000] - both[100]) / 900
	return v, nil
}

// onRig runs do on a fresh store with so many jobs waiting.
func (m *meter) onRig(ctx context.Context, waiting int, do func(r *rig) error) error {
	if err := m.needStatistics(ctx); err != nil {
		return err
	}
	if err := m.dropAll(ctx); err != nil {
		return err
	}
	b, err := newBackWave(ctx, m.url, engine.Group{})
	if err != nil {
		return err
	}
	defer b.close()
	r := &rig{m: m, st: b.st, numbers: map[string]uint64{}}
	defer r.release()
	if err := r.template(ctx); err != nil {
		return fmt.Errorf("make a job to copy: %w", err)
	}
	if err := r.fillWaiting(ctx, waiting); err != nil {
		return err
	}
	return do(r)
}
