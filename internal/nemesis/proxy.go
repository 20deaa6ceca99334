//go:build unix

package nemesis

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"backwave/clockx"
)

// proxy stands between one process and the server, and is their network. An end
// of a connection travels as data does: who is cut off one way does not hear of
// it.
type proxy struct {
	listener net.Listener
	to       string
	all      sync.WaitGroup

	mu      sync.Mutex
	weather weather
	changed chan struct{} // closed, and replaced, whenever the weather changes
	pairs   map[*pair]struct{}
	closed  bool
}

// weather is what becomes of data; the zero value is good weather.
type weather struct {
	refuse   bool          // new connections are reset
	up, down bool          // data to the server, data from it, is held up
	delay    time.Duration // of every piece
}

// pair is one connection: the client's, and ours to the server.
type pair struct{ client, server *net.TCPConn }

// reset ends both connections by RST, without sending what is left.
func (p *pair) reset() {
	for _, c := range []*net.TCPConn{p.client, p.server} {
		if c != nil {
			_ = c.SetLinger(0)
			_ = c.Close()
		}
	}
}

func newProxy(to string) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: l, to: to, changed: make(chan struct{}), pairs: map[*pair]struct{}{}}
	p.all.Go(p.accept)
	return p, nil
}

func (p *proxy) addr() string { return p.listener.Addr().String() }

// close ends everything and waits until it has ended.
func (p *proxy) close() {
	p.mu.Lock()
	p.closed = true
	p.set(weather{})
	p.mu.Unlock()
	_ = p.listener.Close()
	p.reset()
	p.all.Wait()
}

// become changes the weather.
func (p *proxy) become(w weather) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set(w)
}

func (p *proxy) set(w weather) {
	p.weather = w
	close(p.changed)
	p.changed = make(chan struct{})
}

// reset ends all connections by RST.
func (p *proxy) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.pairs {
		c.reset()
	}
	clear(p.pairs)
}

func (p *proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.all.Go(func() { p.serve(c.(*net.TCPConn)) })
	}
}

// serve carries one connection, until it ends both ways.
func (p *proxy) serve(c *net.TCPConn) {
	x := &pair{client: c}
	defer x.reset()
	if !p.pass(true) {
		return
	}
	s, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	x.server = s.(*net.TCPConn)
	p.mu.Lock()
	if p.closed || p.weather.refuse {
		p.mu.Unlock()
		return
	}
	p.pairs[x] = struct{}{}
	p.mu.Unlock()
	var both sync.WaitGroup
	both.Go(func() { p.carry(x.client, x.server, true) })
	both.Go(func() { p.carry(x.server, x.client, false) })
	both.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.pairs, x)
}

// carry takes data from one side to the other, and then the end of it.
func (p *proxy) carry(from, to *net.TCPConn, up bool) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if !p.pass(up) {
			_ = to.Close()
			return
		}
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil { // it has gone, which is news the other way
				p.pass(!up)
				_ = from.Close()
				return
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				_ = to.CloseWrite()
			} else {
				_ = to.Close()
			}
			return
		}
	}
}

// pass waits until data may go that way. It reports false if connections are
// refused by then.
func (p *proxy) pass(up bool) bool {
	p.mu.Lock()
	delay := p.weather.delay
	for !p.weather.refuse && (up && p.weather.up || !up && p.weather.down) {
		changed := p.changed
		p.mu.Unlock()
		<-changed
		p.mu.Lock()
	}
	refuse := p.weather.refuse
	p.mu.Unlock()
	if delay > 0 && !refuse {
		_ = clockx.Sleep(context.Background(), clockx.Wall{}, delay)
	}
	return !refuse
}
