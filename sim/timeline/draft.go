package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"backwave/store"
)

// draft is a page that is being drawn up.
type draft struct {
	page    Page
	jobs    map[store.JobID]int
	nodes   map[string]int
	workers map[string]int
	calls   map[uint64]int
	leases  map[holder]int // as the store knows them, by their last holder
	last    int64          // latest instant seen
	room    int            // calls before idle ones are thrown out
	thrown  int            // idle calls that are not in the page any more
}

// mostCalls is how many calls a page has before the idle ones, of which a node
// makes one a second or more, are left out.
const mostCalls = 40_000

// holder names a lease.
type holder struct {
	worker int
	key    store.LeaseKey
}

func newDraft() *draft {
	return &draft{
		page: Page{Shades: []Shade{}, Runs: []Run{}, Leases: []Lease{}, Views: []Lease{}, Calls: []Call{}, Events: []Event{}, Clocks: []Clock{}, Violations: []Violation{}, Nodes: []string{}, Workers: []Worker{}, Jobs: []Job{}},
		jobs: map[store.JobID]int{}, nodes: map[string]int{}, workers: map[string]int{}, calls: map[uint64]int{}, leases: map[holder]int{}, room: mostCalls,
	}
}

// job returns the index of a job; one that nobody has named is called by its id.
func (d *draft) job(id store.JobID) int {
	i, ok := d.jobs[id]
	if !ok {
		i = len(d.page.Jobs)
		d.jobs[id] = i
		d.page.Jobs = append(d.page.Jobs, Job{Name: id.String(), ID: id.String()})
	}
	return i
}

func (d *draft) node(name string) int {
	i, ok := d.nodes[name]
	if !ok {
		i = len(d.page.Nodes)
		d.nodes[name] = i
		d.page.Nodes = append(d.page.Nodes, name)
	}
	return i
}

// worker returns the index of a worker, and books it if it is new.
func (d *draft) worker(name, node string, process int) int {
	i, ok := d.workers[name]
	if !ok {
		i = len(d.page.Workers)
		d.workers[name] = i
		d.page.Workers = append(d.page.Workers, Worker{Name: name, Node: d.node(node), Process: process})
	}
	return i
}

// lane returns the node of a worker, People for None.
func (d *draft) lane(worker int) int {
	if worker < 0 {
		return People
	}
	return d.page.Workers[worker].Node
}

// tell adds an event and returns it, to be completed.
func (d *draft) tell(at int64, node, job int, format string, args ...any) *Event {
	d.see(at)
	d.page.Events = append(d.page.Events, Event{At: at, Node: node, Job: job, Text: fmt.Sprintf(format, args...)})
	return &d.page.Events[len(d.page.Events)-1]
}

// see notes that the page reaches at least to at.
func (d *draft) see(at int64) { d.last = max(d.last, at) }

// attempt names an attempt as stories do.
func (d *draft) attempt(k store.LeaseKey) string {
	return fmt.Sprintf("%s#%d", d.page.Jobs[d.job(k.Job)].Name, k.Attempt)
}

// enters books a state of a job.
func (d *draft) enters(job int, at int64, s string) {
	j := &d.page.Jobs[job]
	if n := len(j.States); n > 0 && j.States[n-1].State == s {
		return
	}
	j.States = append(j.States, State{At: at, State: s})
}

// grant books a lease in the store. A lease of the same holder that is still
// there is the same one, told again.
func (d *draft) grant(at int64, worker int, k store.LeaseKey, until int64) {
	h := holder{worker, k}
	if i, ok := d.leases[h]; ok && d.page.Leases[i].To == None {
		return
	}
	d.leases[h] = len(d.page.Leases)
	d.page.Leases = append(d.page.Leases, Lease{Job: d.job(k.Job), Attempt: k.Attempt, Claim: k.Claim, Worker: worker, From: at, To: None, Until: until})
}

// open returns the lease of h in the store that has not ended, or nil.
func (d *draft) open(h holder) *Lease {
	if i, ok := d.leases[h]; ok && d.page.Leases[i].To == None {
		return &d.page.Leases[i]
	}
	return nil
}

// fence marks the last run of an attempt as one whose outcome was refused.
func (d *draft) fence(worker, job, attempt int) {
	for i := len(d.page.Runs) - 1; i >= 0; i-- {
		if r := &d.page.Runs[i]; r.Job == job && r.Attempt == attempt && r.Worker == worker {
			r.Fenced = true
			return
		}
	}
}

// trim throws out the idle calls that are over.
func (d *draft) trim() {
	calls := d.page.Calls
	d.page.Calls = d.page.Calls[:0]
	for i := range calls {
		c := &calls[i]
		if c.Idle && c.Answered != None {
			delete(d.calls, c.ID)
			d.thrown++
			continue
		}
		d.calls[c.ID] = len(d.page.Calls)
		d.page.Calls = append(d.page.Calls, *c)
	}
	d.room = max(mostCalls, 2*len(d.page.Calls))
}

// finish closes what is open and puts everything in order.
func (d *draft) finish(length int64) *Page {
	p := &d.page
	p.Length = max(length, d.last, 1)
	if d.thrown > 0 || len(p.Calls) > mostCalls {
		d.trim()
	}
	if d.thrown > 0 {
		p.Notes = append(p.Notes, fmt.Sprintf("%d idle calls are left out: the page would be too large.", d.thrown))
	}
	slices.SortStableFunc(p.Events, func(a, b Event) int { return cmp.Compare(a.At, b.At) })
	slices.SortStableFunc(p.Shades, func(a, b Shade) int { return cmp.Compare(a.From, b.From) })
	for i := range p.Shades {
		if p.Shades[i].To == None {
			p.Shades[i].To = p.Length
		}
	}
	for i := range p.Runs {
		if p.Runs[i].To == None {
			p.Runs[i].To, p.Runs[i].End = p.Length, "still runs"
		}
	}
	return p
}

// since prints an instant as stories do, m:ss.mmm.
func since(ns int64) string {
	if ns >= Endless {
		return "for ever"
	}
	sign := ""
	if ns < 0 {
		sign, ns = "-", -ns
	}
	ms := ns / int64(time.Millisecond)
	if ms >= 3_600_000 {
		return fmt.Sprintf("%s%d:%02d:%02d.%03d", sign, ms/3_600_000, ms/60_000%60, ms/1000%60, ms%1000)
	}
	return fmt.Sprintf("%s%d:%02d.%03d", sign, ms/60_000, ms/1000%60, ms%1000)
}
