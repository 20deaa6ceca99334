package postgres

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"backwave/clockx"
)

// hintWindow is how long hints are gathered after one was sent. The first goes
// out at once, so at a low rate of jobs nothing waits. As long as each window
// brings more, the next is twice as long, up to mostWindow: a notification costs
// the server more than an enqueue, and at a high rate nobody listens for the
// single one.
const (
	hintWindow = time.Millisecond
	mostWindow = 16 * time.Millisecond
)

// relisten is how long a listener rests after its connection was lost.
const relisten = 250 * time.Millisecond

// keepAlive is how long a listener may hear nothing before it asks whether the
// server is there, and how long it waits for that answer.
const keepAlive = 15 * time.Second

// mostHint bounds the text of one notification, of which the server takes less
// than 8000 bytes.
const mostHint = 7000

// hints carries the names of queues with new work to the pumps of this process
// at once, and to those of other processes by notifications.
type hints struct {
	s      *Store
	from   string // tells our own notifications from others'
	notify bool
	end    context.CancelFunc
	ended  context.Context
	wait   sync.WaitGroup
	wake   chan struct{}
	listen sync.Once

	mu      sync.Mutex
	takers  []*taker            // replaced, never written
	pending map[string]struct{} // to be sent
	heard   map[string]struct{} // ever: hinted again when hints may have been missed
}

type taker struct{ hint func(queue string) }

// notice is the text of a notification.
type notice struct {
	From   string   `json:"from"`
	Queues []string `json:"queues"`
}

func newHints(s *Store, notify bool) *hints {
	from := rand.Text() //nolint:forbidigo // tells stores apart, in any process; nothing is decided by it
	h := &hints{s: s, from: from, notify: notify, wake: make(chan struct{}, 1), pending: map[string]struct{}{}, heard: map[string]struct{}{}}
	h.ended, h.end = context.WithCancel(context.Background())
	if notify {
		h.wait.Go(h.send)
	}
	return h
}

func (h *hints) close() {
	h.end()
	h.wait.Wait()
}

// Hints implements store.Hinter. The first call starts to listen.
func (s *Store) Hints(hint func(queue string)) (stop func()) {
	h, t := s.hints, &taker{hint}
	h.mu.Lock()
	h.takers = append(slices.Clip(h.takers), t)
	h.mu.Unlock()
	if h.notify {
		h.listen.Do(func() { h.wait.Go(h.hear) })
	}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.takers = slices.DeleteFunc(slices.Clone(h.takers), func(o *taker) bool { return o == t })
	}
}

// tell passes on that work in the queues may be due.
func (h *hints) tell(queues []string) {
	if len(queues) == 0 {
		return
	}
	h.pass(queues)
	if !h.notify {
		return
	}
	h.mu.Lock()
	for _, q := range queues {
		h.pending[q] = struct{}{}
	}
	h.mu.Unlock()
	select {
	case h.wake <- struct{}{}:
	default: // it is awake
	}
}

func (h *hints) pass(queues []string) {
	h.s.calm.news.Add(1)
	h.mu.Lock()
	takers := h.takers
	for _, q := range queues {
		h.heard[q] = struct{}{}
	}
	h.mu.Unlock()
	for _, t := range takers {
		for _, q := range queues {
			t.hint(q)
		}
	}
}

// send sends what is pending until the store is closed. What it cannot send is
// lost; the others poll.
func (h *hints) send() {
	for window := hintWindow; ; {
		select {
		case <-h.ended.Done():
			return
		case <-h.wake:
		}
		for _, text := range h.texts() {
			var b pgx.Batch
			b.Queue("select set_config('synchronous_commit', 'off', true)") // a hint that a crash loses is no loss
			b.Queue("select pg_notify($1, $2)", h.channel(), text)
			if h.s.pool.SendBatch(h.ended, &b).Close() != nil {
				break
			}
		}
		if clockx.Sleep(h.ended, h.s.timer, window) != nil {
			return
		}
		if h.more() {
			window = min(2*window, mostWindow)
		} else {
			window = hintWindow
		}
	}
}

// more reports whether there is something to be sent.
func (h *hints) more() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.pending) > 0
}

// texts takes what is pending as texts of notifications.
func (h *hints) texts() (texts []string) {
	h.mu.Lock()
	names := make([]string, 0, len(h.pending))
	for q := range h.pending {
		names = append(names, q)
	}
	clear(h.pending)
	h.mu.Unlock()
	for part := range slices.Chunk(names, mostHint/(6*255)) { // a byte is at most six in JSON
		text, err := json.Marshal(notice{From: h.from, Queues: part})
		if err == nil {
			texts = append(texts, string(text))
		}
	}
	return texts
}

// channel names the notifications of one schema; 63 bytes would be the most.
func (h *hints) channel() string {
	name := "backwave " + h.s.schema
	return name[:min(len(name), 63)]
}

// hear listens, on a connection of its own, until the store is closed.
func (h *hints) hear() {
	for h.ended.Err() == nil {
		_ = h.hearOnce()
		if clockx.Sleep(h.ended, h.s.timer, relisten) != nil {
			return
		}
	}
}

// hearOnce listens until its connection is lost. What was missed before it
// began is made up for by a hint for every queue ever heard of.
func (h *hints) hearOnce() error {
	conn, err := h.s.connect(h.ended)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(h.ended)) }()
	if _, err := conn.Exec(h.ended, "listen "+pgx.Identifier{h.channel()}.Sanitize()); err != nil {
		return err
	}
	h.mu.Lock()
	missed := make([]string, 0, len(h.heard))
	for q := range h.heard {
		missed = append(missed, q)
	}
	h.mu.Unlock()
	h.pass(missed)
	for {
		n, err := h.next(conn)
		if err != nil {
			return err
		}
		var told notice
		if n != nil && json.Unmarshal([]byte(n.Payload), &told) == nil && told.From != h.from { // else our pumps know already
			h.pass(told.Queues)
		}
	}
}

// next waits for a notification. When none came for a while it asks whether the
// server is still there: a connection can be lost without anybody saying so.
func (h *hints) next(conn *pgx.Conn) (*pgconn.Notification, error) {
	quiet, cancel := clockx.WithTimeout(h.ended, h.s.timer, keepAlive, context.DeadlineExceeded)
	n, err := conn.WaitForNotification(quiet)
	cancel()
	if err == nil || h.ended.Err() != nil || conn.IsClosed() {
		return n, err
	}
	soon, cancel := clockx.WithTimeout(h.ended, h.s.timer, keepAlive, context.DeadlineExceeded)
	defer cancel()
	return nil, conn.Ping(soon)
}
