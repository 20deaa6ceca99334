package sqlite_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"backwave/store"
	"backwave/store/sqlite"
)

// The bare statements are those of this package's own tables, each prepared
// once and run through the same driver: what the machine and the schema allow
// before anything is decided. Every benchmark reports jobs/s of the store and
// of the bare statements in turns within the same run, and their ratio.

var modes = []struct {
	name string
	sync sqlite.Synchronous
}{{"full", sqlite.Full}, {"normal", sqlite.Normal}}

// BenchmarkDrain claims and reports no-op jobs of 100 bytes that were added in
// bulk. Finished jobs and their attempts are kept.
func BenchmarkDrain(b *testing.B) {
	for _, m := range modes {
		for _, batch := range []int{500, 100} {
			b.Run(fmt.Sprintf("%s/batch-%d", m.name, batch), func(b *testing.B) {
				inTurns(b, m.sync, func(r *rig, jobs int) (ours, bare span) {
					r.fill(b, jobs)
					ours = measure(func() { r.drain(b, batch) })
					r.fill(b, jobs)
					return ours, measure(func() { r.bareDrain(b, batch) })
				})
			})
		}
	}
}

// BenchmarkEnqueue adds jobs of 100 bytes: one in a call, and 1,000.
func BenchmarkEnqueue(b *testing.B) {
	for _, m := range modes {
		for _, batch := range []int{1, 1000} {
			b.Run(fmt.Sprintf("%s/batch-%d", m.name, batch), func(b *testing.B) {
				inTurns(b, m.sync, func(r *rig, jobs int) (ours, bare span) {
					if batch == 1 {
						jobs /= 20
					}
					ours = measure(func() {
						for n := 0; n < jobs; n += batch {
							r.enqueue(b, batch)
						}
					})
					return ours, measure(func() {
						for n := 0; n < jobs; n += batch {
							r.bareEnqueue(b, batch)
						}
					})
				})
			})
		}
	}
}

// inTurns runs turn b.N times with 20,000 jobs.
func inTurns(b *testing.B, sync sqlite.Synchronous, turn func(r *rig, jobs int) (ours, bare span)) {
	const jobs = 20_000
	r := newRig(b, sync)
	var ours, bare span
	for b.Loop() {
		x, y := turn(r, jobs)
		ours.add(x)
		bare.add(y)
	}
	n := float64(r.done) / 2
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(n/ours.wall.Seconds(), "jobs/s")
	b.ReportMetric(n/bare.wall.Seconds(), "bare/s")
	b.ReportMetric(100*bare.wall.Seconds()/ours.wall.Seconds(), "%bare")
	b.ReportMetric(ours.cpu.Seconds()*1e6/n, "cpu-us/job")
	b.ReportMetric(bare.cpu.Seconds()*1e6/n, "bare-cpu-us/job")
}

// span is how long something took, and the processor time of this process.
type span struct{ wall, cpu time.Duration }

func (s *span) add(o span) { s.wall, s.cpu = s.wall+o.wall, s.cpu+o.cpu }

func measure(do func()) span {
	start, cpu := time.Now(), processor()
	do()
	return span{time.Since(start), processor() - cpu}
}

func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// rig is a store and a bare connection to the same file.
type rig struct {
	s       *sqlite.Store
	bare    *sql.DB
	stmts   map[string]*sql.Stmt
	made    uint64
	number  uint64
	done    int
	payload []byte
}

func newRig(b *testing.B, sync sqlite.Synchronous) *rig {
	path := filepath.Join(b.TempDir(), "jobs.db")
	r := &rig{s: open(b, sqlite.Config{Path: path, Synchronous: sync}), stmts: map[string]*sql.Stmt{}, payload: make([]byte, 100)}
	mode := "FULL"
	if sync == sqlite.Normal {
		mode = "NORMAL"
	}
	r.bare = must(sql.Open("sqlite", "file:"+path+"?_pragma=cache_size(-65536)&_pragma=temp_store(MEMORY)&_pragma=synchronous("+mode+")"))
	r.bare.SetMaxOpenConns(1)
	b.Cleanup(func() { check(b, r.bare.Close()) })
	return r
}

func (r *rig) jobs(n int) []store.NewJob {
	jobs := make([]store.NewJob, n)
	for i := range jobs {
		r.made++
		jobs[i] = store.NewJob{ID: store.NewJobID(1_767_225_600_000+int64(r.made/1000), r.made, r.made), Name: "noop", Queue: "q", Payload: r.payload}
	}
	return jobs
}

func (r *rig) enqueue(b *testing.B, n int) {
	must(r.s.Enqueue(b.Context(), &store.Enqueue{Jobs: r.jobs(n)}))
	r.done += n
}

// fill adds jobs that are not counted.
func (r *rig) fill(b *testing.B, jobs int) {
	for n := 0; n < jobs; n += 1000 {
		must(r.s.Enqueue(b.Context(), &store.Enqueue{Jobs: r.jobs(1000)}))
	}
}

func (r *rig) drain(b *testing.B, batch int) {
	for {
		r.number++
		out := must(r.s.Claim(b.Context(), &store.Claim{Worker: "w", Number: r.number, Queues: []store.Quota{{Queue: "q", Most: batch}}, Max: batch, Lease: time.Minute}))
		if len(out.Leases) == 0 {
			return
		}
		rows := make([]store.ReportRow, len(out.Leases))
		for i := range rows {
			rows[i] = store.ReportRow{Key: out.Leases[i].Key, Outcome: store.Success{}}
		}
		must(r.s.Report(b.Context(), &store.Report{Worker: "w", Rows: rows}))
		r.done += len(rows)
	}
}

func (r *rig) exec(query string, args ...any) sql.Result {
	return must(r.stmt(query).Exec(args...))
}

func (r *rig) stmt(query string) *sql.Stmt {
	if r.stmts[query] == nil {
		r.stmts[query] = must(r.bare.Prepare(query))
	}
	return r.stmts[query]
}

func (r *rig) bareDrain(b *testing.B, batch int) {
	for {
		now := time.Now().UnixMicro()
		r.exec(`BEGIN IMMEDIATE`)
		rows := must(r.stmt(`UPDATE backwave_job SET state = 3, attempt = attempt + 1, worker = 'w', claim = 1, lease_until = ?1, lease_for = 60000000, ceiling = 10, retry_delay = 2000000
			WHERE seq IN (SELECT seq FROM backwave_job WHERE state = 1 AND queue = 'q' AND due <= ?2 ORDER BY due, seq LIMIT ?3)
			RETURNING seq, id, name, (SELECT payload FROM backwave_payload p WHERE p.seq = backwave_job.seq)`).Query(now+60_000_000, now, batch))
		var ids []string
		for rows.Next() {
			var seq int64
			var id, name, payload sql.RawBytes
			check(b, rows.Scan(&seq, &id, &name, &payload))
			ids = append(ids, string(id))
		}
		check(b, rows.Close())
		r.exec(`COMMIT`)
		if len(ids) == 0 {
			return
		}
		r.exec(`BEGIN IMMEDIATE`)
		for _, id := range ids {
			r.exec(`UPDATE backwave_job SET state = 4, finished = ?2, ends = CAST(?3 AS BLOB) WHERE id = ?1 AND state = 3 AND worker = 'w' AND claim = 1 AND attempt = 1 AND lease_until > ?2`,
				[]byte(id), now, `[{"attempt":1,"claim":1,"worker":"w","kind":"success","to":"succeeded","at":1767225600000000,"lease":60000000}]`)
		}
		r.exec(`COMMIT`)
		r.done += len(ids)
	}
}

func (r *rig) bareEnqueue(b *testing.B, n int) {
	jobs := r.jobs(n)
	now := time.Now().UnixMicro()
	r.exec(`BEGIN IMMEDIATE`)
	for i := range jobs {
		seq := must(r.exec(`INSERT INTO backwave_job (id, name, queue, max_attempts, state, due, enqueued) VALUES (?1, 'noop', 'q', 0, 1, ?2, ?2)`, jobs[i].ID[:], now).LastInsertId())
		r.exec(`INSERT INTO backwave_payload (seq, payload) VALUES (?1, ?2)`, seq, r.payload)
	}
	r.exec(`COMMIT`)
	r.done += n
	b.Helper()
}
