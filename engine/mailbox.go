package engine

import "sync"

// letter is what a pump has to be told. It is opened in the goroutine that may
// talk to the pump.
type letter interface{ open(*host) }

// note is a letter that is no more than what to do.
type note func(*host)

func (n note) open(h *host) { n(h) }

// mailbox queues what a pump has to be told, by any goroutine, for the one
// that may talk to it.
type mailbox struct {
	bell chan struct{} // holds one ring
	over chan struct{} // closed by shut

	mu     sync.Mutex
	mail   []letter
	closed bool
}

func newMailbox() *mailbox { return &mailbox{bell: make(chan struct{}, 1), over: make(chan struct{})} }

// post queues m. It never blocks, and after shut it does nothing.
func (b *mailbox) post(m letter) {
	b.mu.Lock()
	if !b.closed {
		b.mail = append(b.mail, m)
	}
	b.mu.Unlock()
	b.ring()
}

// ring makes wait return, now or the next time.
func (b *mailbox) ring() {
	select {
	case b.bell <- struct{}{}:
	default:
	}
}

// wait waits for a ring and returns all that was posted; used is what it
// returned before, whose memory it takes back.
func (b *mailbox) wait(used []letter) []letter {
	<-b.bell
	clear(used)
	b.mu.Lock()
	defer b.mu.Unlock()
	mail := b.mail
	b.mail = used[:0]
	return mail
}

// shut drops everything from now on. It must be called once.
func (b *mailbox) shut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mail, b.closed = nil, true
	close(b.over)
}
