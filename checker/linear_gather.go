package checker

import (
	"math"

	"backwave/history"
	"backwave/store"
)

// verdictSide tells the two verdicts apart.
type verdictSide uint8

const (
	blackBox verdictSide = iota
	bounded
	sides
)

// never is a position after every record.
const never = int64(math.MaxInt64)

// linear is one run of the check.
type linear struct {
	opts    LinearOptions
	res     Linear
	calls   []callStory // in the order of sending
	forgets []forget
	forgot  bool
	stepped bool // the store's clock was seen to step back

	jobs     []*jobStory // in the order of first mention
	jobByID  map[store.JobID]*jobStory
	workers  map[string]int32
	names    []string // of workers
	queues   map[string]int32
	queueIDs []string
	requests map[string]*requestStory // by request id
	asked    []string                 // request ids in the order of first mention

	policies  []store.Policy
	lastTerms *store.Terms // cache of policy
	lastName  string
	lastIndex int32

	side [sides]side
}

// forget is a Forgot record: at position at, all after to was undone.
type forget struct{ at, to int64 }

// callStory is all that the history says of one call.
type callStory struct {
	id       uint64
	req      store.Request
	sent     int64 // position
	answered int64 // position; 0 if there is no reply
	refused  bool  // it failed, and nothing of it was carried out
	lost     bool
	copies   int // further copies that the network made
	at       int64
	reply    store.Reply
	applied  []known
}

// known is one certain effect of a call: its reply, and the positions between
// which it took place.
type known struct {
	reply  store.Reply
	lo, hi int64
	at     int64 // ns, when it became known
	likely int64 // position at which it took place if the world has said so, else 0
}

// side is what one verdict knows beside single jobs.
type side struct {
	queues []queueSide
	sweep  int64       // position of the first sweep without an answer, never if there is none
	swept  []seenSweep // if the clock ever stepped back: the sweeps that may have cut a lease
}

// queueSide is what one verdict knows of the claims and sweeps of one queue
// that have no answer.
type queueSide struct {
	claims []openClaim // by position
	sweep  int64
}

type openClaim struct {
	sent   int64
	worker int32
	claim  *store.Claim
}

type seenSweep struct {
	sent, ret int64
	at        store.Instant
}

// requestStory is all calls of one request id.
type requestStory struct {
	calls []int
	mixed bool // its calls do not agree in actor and command: it says nothing
}

func gather(h *history.Log, opts LinearOptions) *linear {
	l := &linear{opts: opts, jobByID: map[store.JobID]*jobStory{}, workers: map[string]int32{}, queues: map[string]int32{}, requests: map[string]*requestStory{}}
	byID := map[uint64]int{}
	records := h.Records()
	l.calls = make([]callStory, 0, len(records)/2)
	for i := range records {
		l.take(&records[i], byID)
	}
	for i := range l.calls {
		l.mention(i)
	}
	for v := range l.side {
		s := &l.side[v]
		s.sweep = never
		s.queues = make([]queueSide, len(l.queueIDs))
		for q := range s.queues {
			s.queues[q].sweep = never
		}
	}
	for i := range l.calls {
		for v := range sides {
			l.spread(&l.calls[i], v)
		}
	}
	l.people()
	return l
}

// take adds one record to what is known.
func (l *linear) take(r *history.Record, byID map[uint64]int) {
	pos := int64(r.Seq)
	switch r.Kind {
	case history.Sent:
		byID[r.Call] = len(l.calls)
		l.calls = append(l.calls, callStory{id: r.Call, req: r.Req, sent: pos})
		return
	case history.Forgot:
		l.forgot = true
		l.forgets = append(l.forgets, forget{pos, int64(r.To)})
		return
	case history.Stepped:
		l.stepped = true
		return
	case history.Answered, history.Failed, history.Applied, history.Lost, history.Doubled:
	}
	i, ok := byID[r.Call]
	if !ok {
		return
	}
	c := &l.calls[i]
	switch r.Kind {
	case history.Answered:
		c.answered, c.at, c.reply = pos, r.At, r.Reply
	case history.Failed:
		c.refused = r.Refused
	case history.Applied:
		c.applied = append(c.applied, known{reply: r.Reply, lo: pos, hi: pos, at: r.At, likely: pos})
	case history.Lost:
		c.lost = true
	case history.Doubled:
		c.copies++
	case history.Sent, history.Forgot, history.Stepped:
	}
}

// knowns returns the certain effects of c in a verdict, and how many more
// times it may have taken effect unseen.
func (l *linear) knowns(c *callStory, v verdictSide) (ks []known, unseen int) {
	if v == bounded {
		switch {
		case len(c.applied) > 0:
			return c.applied, 0
		case l.forgot && c.answered > 0: // which of the two stores answered is not known
			return nil, 1 + c.copies
		case c.lost && c.answered == 0:
			return nil, 0
		case c.lost:
			return []known{c.answer()}, 0
		}
	}
	switch {
	case c.refused:
		return nil, 0
	case c.answered > 0:
		return []known{c.answer()}, c.copies
	}
	return nil, 1 + c.copies
}

// answer is the effect that the caller of c was told of.
func (c *callStory) answer() known {
	k := known{reply: c.reply, lo: c.sent, hi: c.answered, at: c.at}
	for i := range c.applied {
		if a := &c.applied[i]; a.hi < c.answered && a.reply.DecidedAt() == c.reply.DecidedAt() {
			k.likely = a.hi
			break
		}
	}
	return k
}

func (l *linear) worker(name string) int32 {
	i, ok := l.workers[name]
	if !ok {
		i = int32(len(l.names))
		l.workers[name] = i
		l.names = append(l.names, name)
	}
	return i
}

func (l *linear) queueID(name string) int32 {
	i, ok := l.queues[name]
	if !ok {
		i = int32(len(l.queueIDs))
		l.queues[name] = i
		l.queueIDs = append(l.queueIDs, name)
	}
	return i
}

// policy returns the number of the policy that terms give a job name.
func (l *linear) policy(t *store.Terms, name string) int32 {
	if len(l.policies) > 0 && t == l.lastTerms && name == l.lastName {
		return l.lastIndex
	}
	p := termsFor(t, name)
	at := int32(-1)
	for i := range l.policies {
		if l.policies[i] == p {
			at = int32(i)
		}
	}
	if at < 0 {
		at = int32(len(l.policies))
		l.policies = append(l.policies, p)
	}
	l.lastTerms, l.lastName, l.lastIndex = t, name, at
	return at
}
