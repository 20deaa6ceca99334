package checker

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"backwave/history"
	"backwave/store"
)

// hour is a virtual hour of 5 nodes and 50 jobs: polls every second, a renewal
// every 20 s, a sweep every 5 s, one reply in 40 lost and one request in 80.
func hour(jobs int) *history.Log {
	s, log, draw := newRef(""), history.NewLog(), seeded(7)
	call := uint64(0)
	send := func(client string, q store.Request) store.Reply {
		call++
		now := int64(s.now)
		log.Sent(now, call, client, q)
		if draw(80) == 0 {
			return nil
		}
		reply := s.apply(q)
		log.Applied(now, call, reply)
		if draw(40) == 0 {
			return nil
		}
		log.Answered(now, call, reply)
		return reply
	}
	type running struct {
		key  store.LeaseKey
		left int
	}
	held := make([][]running, 5)
	numbers := make([]uint64, 5)
	for sec := range 3600 {
		if sec*jobs/1800 > (sec-1)*jobs/1800 && len(s.jobs) < jobs {
			send("client", &store.Enqueue{Jobs: []store.NewJob{{ID: jobID(len(s.jobs)), Name: "a", Queue: "q"}}})
		}
		for n := range held {
			name := fmt.Sprint("n", n)
			numbers[n]++
			c, _ := send(name, &store.Claim{Worker: name, Number: numbers[n], Queues: []store.Quota{{Queue: "q", Most: 5}}, Max: 5, Lease: time.Minute, Terms: refTerms}).(*store.Claimed)
			if c != nil {
				for _, l := range c.Leases {
					held[n] = append(held[n], running{l.Key, 1 + draw(300)})
				}
			}
			if (sec+n)%20 == 0 && len(held[n]) > 0 {
				q := &store.Renew{Worker: name, Lease: time.Minute}
				for _, r := range held[n] {
					q.Rows = append(q.Rows, store.RenewRow{Key: r.key})
				}
				send(name, q)
			}
			held[n] = slices.DeleteFunc(held[n], func(r running) bool {
				if r.left > sec%300 {
					return false
				}
				o := []store.Outcome{store.Success{}, store.Success{}, store.Failure{}}[draw(3)]
				send(name, &store.Report{Worker: name, Rows: []store.ReportRow{{Key: r.key, Outcome: o}}})
				return true
			})
			if (sec+n)%5 == 0 {
				send(name, &store.Sweep{Queues: []string{"q"}, Max: 100})
			}
		}
		s.now = s.now.Add(time.Second)
	}
	return log
}

func BenchmarkLinearHour(b *testing.B) {
	for _, jobs := range []int{50, 500} {
		b.Run(fmt.Sprint(jobs, "jobs"), func(b *testing.B) {
			h := hour(jobs)
			var got Linear
			b.ReportAllocs()
			for b.Loop() {
				got = CheckLinear(h, LinearOptions{})
			}
			if got.Bounded != Held || got.BlackBox != Held {
				b.Fatalf("%+v", got)
			}
			b.ReportMetric(float64(len(h.Records())), "records")
			b.ReportMetric(float64(got.Steps), "steps")
		})
	}
}

// keyed is a history in which so many jobs hold one unique key, one after the
// other, and each has a next one refused. One renewal in two is lost.
func keyed(jobs int) *history.Log {
	s, log := newRef(""), history.NewLog()
	call := uint64(0)
	send := func(client string, q store.Request, lost bool) {
		call++
		now := int64(s.now)
		log.Sent(now, call, client, q)
		reply := s.apply(q)
		if !lost {
			log.Answered(now, call, reply)
		}
		s.now = s.now.Add(time.Second)
	}
	for i := range jobs {
		add := func(n int) *store.Enqueue {
			return &store.Enqueue{Jobs: []store.NewJob{{ID: jobID(n), Name: "a", Queue: "q", UniqueKey: "key"}}}
		}
		send("client", add(i), false)
		send("n1", &store.Claim{Worker: "n1", Number: uint64(i + 1), Queues: []store.Quota{{Queue: "q", Most: 1}}, Max: 1, Lease: time.Minute, Terms: refTerms}, false)
		send("client", add(i+1), false) // refused
		key := store.LeaseKey{Job: jobID(i), Attempt: 1, Claim: uint64(i + 1)}
		send("n1", &store.Renew{Worker: "n1", Lease: time.Minute, Rows: []store.RenewRow{{Key: key}}}, i%2 == 0)
		send("n1", &store.Report{Worker: "n1", Rows: []store.ReportRow{{Key: key, Outcome: store.Success{}}}}, false)
	}
	return log
}

// What a call costs must not depend on how many there were before it.
func BenchmarkLinearKeys(b *testing.B) {
	for _, jobs := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(jobs, "jobs"), func(b *testing.B) {
			h := keyed(jobs)
			var got Linear
			for b.Loop() {
				got = CheckLinear(h, LinearOptions{})
			}
			if got.Bounded != Held || got.BlackBox != Held {
				b.Fatalf("%+v", got)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(h.Records())), "ns/record")
		})
	}
}
