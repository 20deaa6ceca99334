//go:build unix

package nemesis

import (
	"fmt"
	"strings"

	"backwave/internal/mutant"
)

// Bug is a bug to be planted in the PostgreSQL store.
type Bug struct {
	mutant.Mutant
	Faults []string // the kinds of faults that bring it out, and cost least time
	sql    []change
}

// change is what a bug changes in statements. Old occurs in the package.
type change struct{ old, new string }

const postgresDir = "store/postgres/"

// inSQL is a bug in statements. All of them pass through one function on their
// way to the server, those of the schema too, and there they are changed.
func inSQL(name, breaks, faults string, changes ...change) Bug {
	const passes = `return strings.ReplaceAll(text, "{s}", s.quoted)`
	var b strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&b, "text = strings.ReplaceAll(text, %q, %q)\n", c.old, c.new)
	}
	return Bug{
		Mutant: mutant.Mutant{Name: name, File: postgresDir + "schema.go", Func: "(*Store).sql", Old: passes, New: b.String() + passes, Breaks: breaks},
		Faults: strings.Fields(faults), sql: changes,
	}
}

// around is a bug in how statements are sent and their errors are read.
func around(name, breaks, faults, file, function, before, after string) Bug {
	return Bug{
		Mutant: mutant.Mutant{Name: name, File: postgresDir + file, Func: function, Old: before, New: after, Breaks: breaks},
		Faults: strings.Fields(faults),
	}
}

// Bugs lists the bugs that Run must find, one at a time.
func Bugs() []Bug {
	const ours = " and j.worker = (select wid from w) and j.attempt = r.attempt and j.claim = r.claim"
	return []Bug{
		inSQL("report-without-fence", "whoever reports a success ends the lease of whoever has it", "lose-calls partition",
			change{"where j.id = r.id" + ours + " and j.lease_until > (select t from nw)", "where j.id = r.id and j.lease_until > (select t from nw)"}),
		inSQL("report-after-the-lease", "a success is recorded although its lease has run out", "lose-calls partition",
			change{"where j.id = r.id" + ours + " and j.lease_until > (select t from nw)", "where j.id = r.id" + ours},
			change{"case when (select ends <= t from e) then {s}.late() else (select t from e) end", "(select t from e)"},
			change{"where j.ctid = l.tid and l.lease_until > (select t from e) returning", "where j.ctid = l.tid returning"}),
		inSQL("renew-the-lapsed", "a lease that has run out comes to life again", "lose-calls",
			change{"where j.ctid = o.ctid" + ours + " and j.lease_until > (select t from nw)", "where j.ctid = o.ctid" + ours},
			change{"case when e.ends <= {s}.clock($1) then {s}.late() else (select t from nw) end", "(select t from nw)"},
			change{"l.mine and l.lease_until > nw.t", "l.mine"}),
		inSQL("renewal-not-kept", "a lease that was renewed runs out when it would have", "slow",
			change{"then (select t from nw) + $3::bigint else {s}.late() end", "then j.lease_until else {s}.late() end"}),
		inSQL("sweep-without-look", "one lapsed lease takes living ones along", "kill freeze",
			change{" and j.lease_until <= nw.t and (a.ord", " and j.lease_until is not null and (a.ord"},
			change{"where j.ctid = c.tid and j.lease_until <= (select t from nw) and (c.ord", "where j.ctid = c.tid and (c.ord"}),
		inSQL("sweep-looks-once", "a lease that was renewed once is not swept when it lapses", "kill",
			change{"set check_at = m.next from m", "set check_at = m.next + 3600000000 from m"}),
		inSQL("claim-of-the-leased", "a job that somebody works on is leased again", "slow",
			change{"(q.due, q.seq) and j.lease_until is null", "(q.due, q.seq)"}),
		inSQL("attempt-not-counted", "an attempt after the first has the number of the first", "kill",
			change{"attempt = coalesce(j.attempt, 0) + 1", "attempt = coalesce(j.attempt, 1)"}),
		inSQL("ends-forgotten", "a job that is tried again forgets how its attempts ended", "kill",
			change{"hist = r.hist, lease_until = null", "hist = j.hist, lease_until = null"}),
		inSQL("completion-without-fence", "a handler's transaction commits although the lease is another's", "freeze",
			change{"where id = the_id and attempt = the_attempt and claim = the_claim", "where id = the_id"},
			change{"and worker = (select wid from {s}.worker where name = the_worker) and lease_until is not null", ""},
			change{"if not found or not alive then", "if not found then"}),
		inSQL("completion-leaves-the-job", "a success that a handler's transaction records is recorded twice: the job runs again", "kill",
			change{"with d as (delete from {s}.job where id = the_id returning *)", "with d as (select * from {s}.job where id = the_id)"}),
		inSQL("success-leaves-the-job", "a success is recorded, and the job runs again", "kill",
			change{"d as (\n  delete from {s}.job j using unnest($3::uuid[], $4::int[], $5::bigint[], $6::bytea[]) as r(id, attempt, claim, output)\n  where", "d as (\n  select j.*, r.output from {s}.job j, unnest($3::uuid[], $4::int[], $5::bigint[], $6::bytea[]) as r(id, attempt, claim, output)\n  where"},
			change{"j.lease_until > (select t from nw)\n  returning j.id, j.due, j.enq_at, j.lease_until, j.claim, j.qid, j.worker, j.attempt, j.base, j.unknown, j.max_attempts, j.cancel,\n    j.name, j.ukey, j.hist, j.progress, r.output, j.payload),", "j.lease_until > (select t from nw)),"}),
		inSQL("enqueue-of-the-finished", "an enqueue that is repeated starts a finished job again", "lose-reply",
			change{"if exists (select from {s}.done where id = the_id) then", "if false then"},
			change{"select d.id from {s}.done d where d.id = any($2::uuid[])", "select d.id from {s}.done d where d.id = any($2::uuid[]) and false"}),
		around("commit-before-it-lasts", "what was answered as committed is gone after a crash: an acknowledged enqueue is lost", "crash restart-immediate",
			"store.go", "tune", `"jit": "off",`, `"jit": "off", "synchronous_commit": "off",`),
		around("read-only-is-fatal", "a server that is read-only for a while halts every worker", "read-only",
			"fault.go", "fault", `faults[e.Code]; ok {`, `faults[e.Code]; ok && f != store.FaultFailover {`),
		around("restart-is-fatal", "a server that is restarted halts every worker", "restart-fast restart-immediate",
			"fault.go", "fault", `faults[e.Code]; ok {`, `faults[e.Code]; ok && f != store.FaultShutdown {`),
	}
}
