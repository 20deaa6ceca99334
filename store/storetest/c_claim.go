package storetest

import (
	"time"

	"backwave/store"
)

var claims = []testCase{
	{"C1", "only what is scheduled, due, listed and not paused is taken", func(f *fixture) {
		running := f.job()
		f.take()
		f.job()
		f.ends(f.take(), store.Success{}, store.Succeeded)
		f.add(store.NewJob{Delay: time.Microsecond})
		f.add(store.NewJob{Queue: "unlisted"})
		f.add(store.NewJob{Queue: "paused"})
		f.do(store.Pause{Queue: "paused"})
		waiting := f.job()
		f.do(store.Cancel{Job: f.job()})
		f.want(f.claim(store.Claim{Queues: queues("q", "paused", "unheard")}), rows(waiting))
		f.want(f.state(running), store.Executing)
	}},
	{"C2", "at most the maximum is taken, and no job twice", func(f *fixture) {
		a, b, c := f.job(), f.job(), f.job()
		f.want(f.claim(store.Claim{Max: 2}), rows(a, b))
		f.want(f.claim(store.Claim{Worker: "v", Max: 2}), rows(c))
		f.want(f.claim(store.Claim{Worker: "v", Max: 2}), rows())
	}},
	{"C3", "queues as listed, then due, then order of enqueue", func(f *fixture) {
		a1 := f.add(store.NewJob{Queue: "a", Delay: 2 * time.Second})
		a2 := f.add(store.NewJob{Queue: "a", Delay: time.Second})
		a3 := f.add(store.NewJob{Queue: "a", Delay: time.Second})
		b1 := f.add(store.NewJob{Queue: "b"})
		a4 := f.add(store.NewJob{Queue: "a", HasAt: true, At: 1})
		f.advance(minute)
		b2 := f.add(store.NewJob{Queue: "b"})
		f.want(f.claim(store.Claim{Queues: queues("b", "a")}), rows(b1, b2, a4, a2, a3, a1))
	}},
	{"C3", "a retry goes by its due instant, not by its age", func(f *fixture) {
		old := f.job()
		f.ends(f.take(), store.Failure{}, store.Scheduled) // due in 10 s
		f.advance(minute)
		late := f.add(store.NewJob{HasAt: true, At: start + 9_999_999})
		f.want(f.claim(store.Claim{}), rows(late, old))
	}},
	{"C4", "quotas first, then what is left without them, in the same order", func(f *fixture) {
		var a, b []store.JobID
		for range 4 {
			a, b = append(a, f.add(store.NewJob{Queue: "a"})), append(b, f.add(store.NewJob{Queue: "b"}))
		}
		quota := []store.Quota{{Queue: "a", Most: 2}, {Queue: "b", Most: 1}}
		f.want(f.claim(store.Claim{Queues: quota, Max: 4}), rows(a[0], a[1], b[0], a[2]))
		f.want(f.claim(store.Claim{Queues: quota, Max: 9}), rows(a[3], b[1], b[2], b[3]))
	}},
	{"C4", "a quota of 0 leaves a queue to the second round; a quota does not raise the maximum", func(f *fixture) {
		a, b := f.add(store.NewJob{Queue: "a"}), f.add(store.NewJob{Queue: "b"})
		c := f.add(store.NewJob{Queue: "b"})
		quota := []store.Quota{{Queue: "a", Most: 0}, {Queue: "b", Most: 5}}
		f.want(f.claim(store.Claim{Queues: quota, Max: 1}), rows(b))
		f.want(f.claim(store.Claim{Queues: quota, Max: 5}), rows(c, a))
	}},
	{"C5", "a held job is overtaken, and first again when it is free", func(f *fixture) {
		a, b, c := f.job(), f.job(), f.job()
		release := f.hold(a)
		f.want(f.claim(store.Claim{Max: 1}), rows(b))
		release()
		f.want(f.claim(store.Claim{Max: 1}), rows(a))
		f.want(f.claim(store.Claim{Max: 1}), rows(c))
	}},
	{"C5", "a held job uses up neither quota nor maximum", func(f *fixture) {
		a, b, c := f.add(store.NewJob{Queue: "a"}), f.add(store.NewJob{Queue: "a"}), f.add(store.NewJob{Queue: "b"})
		release := f.hold(a)
		f.want(f.claim(store.Claim{Queues: []store.Quota{{Queue: "a", Most: 1}, {Queue: "b", Most: 1}}, Max: 2}), rows(b, c))
		release()
	}},
	{"C6", "a claim counts the attempt and stamps the row; the answer is what the handler needs", func(f *fixture) {
		id := f.add(store.NewJob{Name: "mail", Payload: []byte("p")})
		f.ends(f.take(), store.Snooze{}, store.Scheduled)
		f.advance(minute)
		out := f.claimed(store.Claim{Worker: "v", Number: 7, Lease: 2 * minute})
		f.want(out.Leases, []store.Lease{{Key: store.LeaseKey{Job: id, Attempt: 2, Claim: 7}, Name: "mail", Queue: "q", Payload: []byte("p"), Base: 1, ExpiresAt: f.in(2 * minute)}})
		j := f.read(id)
		f.want([]any{j.State, j.Attempt, j.Worker, j.Claim, j.LeaseUntil, j.LeaseFor, j.Ceiling, j.RetryDelay},
			[]any{store.Executing, 2, "v", uint64(7), f.in(2 * minute), 2 * minute, 3, 10 * time.Second})
	}},
	{"C11", "a lapsed lease is not claimed, by nobody", func(f *fixture) {
		id := f.job()
		f.take()
		f.advance(time.Hour)
		f.unchanged(func() {
			f.want(f.claim(store.Claim{}), rows())
			f.want(f.claim(store.Claim{Worker: "v"}), rows())
		}, id)
		f.want(f.sweep(), rows(id))
		f.advance(10 * time.Second)
		f.want(f.claim(store.Claim{Worker: "v"}), rows(id))
	}},
	{"C12", "the answer says when the next job is due", func(f *fixture) {
		next := func(c store.Claim) []any {
			out := f.claimed(c)
			return []any{out.HasNext, out.Next}
		}
		none := []any{false, time.Duration(0)}
		f.want(next(store.Claim{}), none)
		a := f.add(store.NewJob{Delay: 3 * minute})
		f.add(store.NewJob{Delay: 2 * minute, Queue: "r"})
		f.add(store.NewJob{Delay: minute, Queue: "unlisted"})
		f.want(next(store.Claim{}), []any{true, 3 * minute})
		f.want(next(store.Claim{Queues: queues("q", "r")}), []any{true, 2 * minute})
		f.do(store.Pause{Queue: "r"})
		f.want(next(store.Claim{Queues: queues("q", "r")}), []any{true, 3 * minute})
		f.do(store.Cancel{Job: a})
		f.want(next(store.Claim{}), none)
	}},
	{"C12", "it is 0 if a due job was not taken, and what is leased does not count", func(f *fixture) {
		f.job()
		id := f.job()
		out := f.claimed(store.Claim{Max: 1})
		f.want([]any{out.HasNext, out.Next}, []any{true, time.Duration(0)})
		f.advance(time.Second)
		release := f.hold(id)
		out = f.claimed(store.Claim{})
		f.want([]any{len(out.Leases), out.HasNext, out.Next}, []any{0, true, time.Duration(0)})
		release()
		out = f.claimed(store.Claim{})
		f.want([]any{len(out.Leases), out.HasNext, out.Next}, []any{1, false, time.Duration(0)})
	}},
	{"C13", "an unreadable row is claimed with the reason and no payload, and quarantined by report", func(f *fixture) {
		a, b := f.add(store.NewJob{Payload: []byte("p")}), f.job()
		f.damage(a, "page torn")
		out := f.claimed(store.Claim{})
		f.want(len(out.Leases), 2)
		f.want([]any{out.Leases[0].Key.Job, len(out.Leases[0].Payload)}, []any{a, 0})
		f.says(out.Leases[0].Damage, "page torn")
		f.want([]any{out.Leases[1].Key.Job, out.Leases[1].Damage}, []any{b, ""})
		f.ends(lease{out.Leases[0], "w"}, store.Undecodable{Error: "page torn"}, store.Quarantined)
		f.ends(lease{out.Leases[1], "w"}, store.Success{}, store.Succeeded)
	}},
}
