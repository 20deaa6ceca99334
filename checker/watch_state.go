package checker

import (
	"math"

	"backwave/store"
)

// WatchOptions say how a Watch speaks. The zero value is good.
type WatchOptions struct {
	// Name returns what a person calls a job; default its id.
	Name func(store.JobID) string
	// Epoch is the store's instant that messages count from; default the
	// first one seen.
	Epoch store.Instant
}

// Watch checks the invariants of Invariants while a world runs. It keeps a
// ledger of its own from what the world tells: of every job, lease, pump and
// call. It believes the images of rows, the world's clocks and its ghosts, and
// of the store's answers only what it then sees confirmed. It is for one
// goroutine.
type Watch struct {
	opt   WatchOptions
	event uint64
	at    int64 // true time of the last event that told it
	dated int   // how many violations carry their true time

	sends   uint64 // so far
	commits uint64 // so far; marks what one commit has touched

	pumps  []*pumpBook // by PumpID; nil where none began
	jobs   []*jobBook  // in the order in which they were heard of
	jobOf  map[store.JobID]*jobBook
	leases []leaseBook // of ghost g at g-1
	queues []*queueBook
	// The maps are for lookup only and never walked.
	queueOf  map[string]int32
	keys     map[string]*jobBook // the live holder of a unique key
	requests map[string]struct{} // ids of commands that were decided

	audits      int
	auditsKnown bool
	high        store.Instant // latest store instant seen
	stamped     store.Instant // latest at which a lease was granted or renewed
	cutBefore   store.Instant // while the store shows less, leases may run longer than their length
	forgotAt    uint64        // sends before the store last forgot

	rows       []*jobBook // scratch: of the rows of a call
	counts     [rules]int
	violations []Violation
}

// jobBook is what the Watch knows of one job.
type jobBook struct {
	id     store.JobID
	name   string
	queue  int32
	key    string
	own    int // its own ceiling; 0 = none
	exists bool
	held   bool // somebody's transaction holds the row

	state   store.State
	claims  int
	ends    int
	base    int
	unknown int
	cancel  bool // a cancel was accepted

	live   Ghost // lease that has not ended
	last   Ghost // latest lease in the history that the store remembers
	newest Ghost // head of all leases ever
	most   int   // highest attempt ever

	mark, done, seen uint64 // number of the commit that expected, or made, a change
	row              int32  // row of the call that may change it
}

// leaseBook is one lease ever granted: a ghost.
type leaseBook struct {
	job     *jobBook
	pump    PumpID
	worker  string
	claim   uint64
	attempt int
	until   store.Instant
	length  int64 // ns; stamped

	ended store.EndKind // 0 = it has not
	to    store.State
	endAt store.Instant

	before  Ghost // the one before it in the history that the store remembers
	ever    Ghost // the one granted before it, remembered or not
	pos     int32 // in the heap of its queue; -1 = in none
	gone    bool  // the store forgot the grant
	taught  bool  // its pump was answered it in time to use it
	started bool
}

// queueBook is a queue: its live leases as a heap by their end, and whether it
// is paused.
type queueBook struct {
	name   string
	leased []Ghost
	paused bool   // the last pause or resume that the store carried out was a pause
	known  bool   // whether paused is known: not after the store forgot
	since  uint64 // sends before an answer to the pause was delivered; 0 = it was not
}

const forever = int64(math.MaxInt64)

// NewWatch returns a Watch that has seen nothing.
func NewWatch(o WatchOptions) *Watch {
	return &Watch{
		opt:      o,
		jobOf:    map[store.JobID]*jobBook{},
		queueOf:  map[string]int32{},
		keys:     map[string]*jobBook{},
		requests: map[string]struct{}{},
		high:     math.MinInt64, stamped: math.MinInt64, cutBefore: math.MinInt64,
		auditsKnown: true,
	}
}

// Event tells the number of the world's current event.
func (w *Watch) Event(n uint64) { w.event = n }

// Violations returns what did not hold, in order; at most 20 per invariant.
func (w *Watch) Violations() []Violation { return w.violations }

// Lease returns the ghost of the job's lease that has not ended, 0 if none.
func (w *Watch) Lease(job store.JobID) Ghost {
	if j := w.jobOf[job]; j != nil {
		return j.live
	}
	return 0
}

// Held tells that somebody's transaction holds the row of job.
func (w *Watch) Held(job store.JobID) { w.book(job).held = true }

// Released tells that the row is free again.
func (w *Watch) Released(job store.JobID) { w.book(job).held = false }

// Damaged tells that the row can no longer be read. Leases of it say so
// themselves, so nothing is kept.
func (w *Watch) Damaged(store.JobID) {}

// book returns what is known of job, which may be nothing yet.
func (w *Watch) book(id store.JobID) *jobBook {
	if j := w.jobOf[id]; j != nil {
		return j
	}
	j := &jobBook{id: id}
	w.jobOf[id] = j
	w.jobs = append(w.jobs, j)
	return j
}

// lease returns the book of a ghost other than 0.
func (w *Watch) lease(g Ghost) *leaseBook { return &w.leases[g-1] }

func (w *Watch) queue(name string) int32 {
	if q, ok := w.queueOf[name]; ok {
		return q
	}
	q := int32(len(w.queues))
	w.queues = append(w.queues, &queueBook{name: name, known: true})
	w.queueOf[name] = q
	return q
}

// holds reports whether ghost g is the job's lease and lives at now.
func (w *Watch) holds(j *jobBook, g Ghost, now store.Instant) bool {
	return g != 0 && j != nil && j.live == g && now < w.lease(g).until
}

// time notes the true time of what is told.
func (w *Watch) time(at int64) {
	w.at = at
	for ; w.dated < len(w.violations); w.dated++ {
		w.violations[w.dated].At = at
	}
}
