package main

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// benchmark is what one subcommand measures.
type benchmark struct {
	name     string
	jobs     int    // of a run, if --jobs does not say; 0: it has none
	peer     string // the system that ratios are to
	against  string // the figure of the first system that is also compared with that of each other
	systems  []system
	figures  []figure
	settings []string // what its server needs beside the usual
	measure  func(ctx context.Context, m *meter, c contender, o *options) (values, error)
	scale    bool // it is one of those of scale
}

// system is one that takes part.
type system struct {
	name string // without a comma
	open opener
	node bool // it needs Node.js

	// alone measures instead of the benchmark's own measure, for what is no
	// contender.
	alone func(ctx context.Context, m *meter, o *options) (values, error)
}

func benchmarks() []*benchmark {
	backWave := system{name: "backwave", open: openBackWave(tunedGroup)}
	river := system{name: "river", open: openRiver(tunedRiver)}
	graphile500 := system{name: "graphile-worker 500", open: openPeer(graphileWorker(ask{"localQueue": 500})), node: true}
	graphile2000 := system{name: "graphile-worker 2000", open: openPeer(graphileWorker(ask{"localQueue": 2000})), node: true}
	boss := system{name: "pg-boss", open: openPeer(pgBoss(ask{"batch": 1000, "loops": 2})), node: true}
	return append([]*benchmark{
		{
			name: "drain", jobs: 200_000, peer: "river", against: "jobs/s", measure: drain,
			systems: append([]system{backWave, river, graphile500, graphile2000, boss, {name: "store only", open: openStoreOnly}}, statementSystems()...),
			figures: []figure{
				{"jobs/s", 0}, {"server µs/job", 1}, {"client µs/job", 1}, {"WAL B/job", 0}, {"WAL B/job with its bulk enqueue", 0},
			},
		},
		{
			name: "steady", peer: "river", against: "finished jobs/s", measure: steady,
			systems: []system{backWave, river, graphile2000, boss},
			figures: []figure{
				{"finished jobs/s", 0}, {"added jobs/s", 0}, {"server µs/job", 1}, {"client µs/job", 1}, {"WAL B/job", 0}, {"hot table MB", 0},
			},
		},
		{
			name: "enqueue", jobs: 20_000, peer: "river", measure: enqueue,
			systems: []system{backWave, river, graphile500, boss},
			figures: []figure{
				{"one by one: jobs/s", 0},
				{"one by one: server µs/job", 1},
				{"one by one: client µs/job", 1},
				{"one by one: WAL B/job", 0},
				{"bulk: jobs/s", 0},
				{"bulk: server µs/job", 1},
				{"bulk: client µs/job", 1},
				{"bulk: WAL B/job", 0},
			},
		},
		{
			name: "latency", jobs: 2_000, peer: "river tuned", measure: latency,
			systems: []system{
				{name: "backwave defaults", open: openBackWave(defaultGroup)},
				{name: "river tuned", open: openRiver(tunedRiver)},
				{name: "river defaults", open: openRiver(defaultRiver)},
				{name: "graphile-worker 500", open: openPeer(graphileWorker(ask{"localQueue": 500, "latency": true})), node: true},
				{name: "pg-boss", open: openPeer(pgBoss(ask{"loops": 10, "batch": 10, "latency": true})), node: true},
			},
			figures: []figure{{"p50 ms", 2}, {"p99 ms", 2}, {"enqueue call p50 ms", 2}, {"server µs/job", 0}, {"client µs/job", 0}},
		},
		{
			name: "idle", peer: "river defaults", measure: idle,
			systems: []system{
				{name: "backwave 20 pumps", open: openBackWave(idleGroup)},
				{name: "backwave defaults", open: openBackWave(defaultGroup)},
				{name: "river defaults", open: openRiver(defaultRiver)},
			},
			figures: []figure{{"server, % of a core", 2}, {"client, % of a core", 2}},
		},
	}, scaleBenchmarks()...)
}

// statementSystems are the bare statements of our design, by loops and batch.
func statementSystems() (out []system) {
	for _, batch := range []int{500, 2000} {
		for loops := 1; loops <= 2; loops++ {
			out = append(out, system{name: fmt.Sprintf("statements %dx%d", loops, batch), open: openStatements(loops, batch)})
		}
	}
	return out
}

// once measures one run of one system, on a fresh schema.
func (b *benchmark) once(ctx context.Context, m *meter, s system, o *options) (values, error) {
	if err := m.checkpoint(ctx); err != nil {
		return nil, err
	}
	if s.alone != nil {
		return s.alone(ctx, m, o)
	}
	if err := m.dropAll(ctx); err != nil {
		return nil, err
	}
	c, err := s.open(ctx, m.url, o.tuning)
	if err != nil {
		return nil, fmt.Errorf("set up: %w", err)
	}
	defer c.close()
	m.foreign = 0
	if f, ok := c.(foreign); ok {
		m.foreign = f.pid()
	}
	return b.measure(ctx, m, c, o)
}

// dropAll removes what earlier runs left, of all systems, so that nobody's
// vacuum falls into the run of somebody else.
func (m *meter) dropAll(ctx context.Context) error {
	for _, schema := range []string{backWaveSchema, riverSchema, graphileSchema, bossSchema} {
		if _, err := m.conn.Exec(ctx, "drop schema if exists "+pgx.Identifier{schema}.Sanitize()+" cascade"); err != nil {
			return fmt.Errorf("drop schema %s: %w", schema, err)
		}
	}
	return m.checkpoint(ctx)
}

// costs adds what each of n jobs cost to v.
func (v values) costs(prefix string, c cost, n int) {
	each := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 / float64(n) }
	v[prefix+"jobs/s"] = float64(n) / c.wall.Seconds()
	v[prefix+"server µs/job"] = each(c.server)
	v[prefix+"client µs/job"] = each(c.client)
	v[prefix+"WAL B/job"] = float64(c.wal) / float64(n)
}

// expect checks that a run has done what it was measured for.
func expect(ctx context.Context, m *meter, c contender, want int) error {
	n, err := c.left(ctx, m.conn)
	if err == nil && n != want {
		err = fmt.Errorf("%d jobs are not finished, want %d", n, want)
	}
	return err
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// wait waits for all, and says how far things are if that takes too long.
func wait(ctx context.Context, all <-chan struct{}, far func() string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case <-all:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", far(), ctx.Err())
	}
}
