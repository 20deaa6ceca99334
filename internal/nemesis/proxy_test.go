//go:build unix

package nemesis

import (
	"bufio"
	"io"
	"net"
	"strings"
	"testing"
)

// far is a server that answers every line with the same line, and tells of all
// lines that have come.
type far struct {
	t     *testing.T
	proxy *proxy
	lines chan string
}

func newFar(t *testing.T) *far {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &far{t: t, lines: make(chan string, 100)}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = c.Close() }()
				for r := bufio.NewReader(c); ; {
					line, err := r.ReadString('\n')
					if err != nil {
						return
					}
					f.lines <- line
					_, _ = io.WriteString(c, line)
				}
			}()
		}
	}()
	if f.proxy, err = newProxy(l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close(); f.proxy.close() })
	return f
}

func (f *far) dial() net.Conn {
	f.t.Helper()
	c, err := net.Dial("tcp", f.proxy.addr())
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(func() { _ = c.Close() })
	return c
}

func (f *far) say(c net.Conn, line string) {
	f.t.Helper()
	if _, err := io.WriteString(c, line+"\n"); err != nil {
		f.t.Fatal(err)
	}
}

func (f *far) hears(want string) {
	f.t.Helper()
	if got := strings.TrimSpace(<-f.lines); got != want {
		f.t.Fatalf("the server heard %q, want %q", got, want)
	}
}

func (f *far) answers(c net.Conn, want string) {
	f.t.Helper()
	got, err := bufio.NewReader(c).ReadString('\n')
	if err != nil || strings.TrimSpace(got) != want {
		f.t.Fatalf("the client heard %q, %v, want %q", got, err, want)
	}
}

func TestGoodWeather(t *testing.T) {
	f := newFar(t)
	c := f.dial()
	f.say(c, "a")
	f.hears("a")
	f.answers(c, "a")
}

// What was held up arrives when the weather is good again, and is lost when the
// connection is reset first.
func TestHeldUpOnTheWayThere(t *testing.T) {
	f := newFar(t)
	for _, reset := range []bool{false, true} {
		c := f.dial()
		f.say(c, "before")
		f.hears("before")
		f.answers(c, "before")
		f.proxy.become(weather{up: true})
		f.say(c, "held")
		if reset {
			f.proxy.reset()
		}
		f.proxy.become(weather{})
		if !reset {
			f.hears("held")
			f.answers(c, "held")
			continue
		}
		if _, err := io.ReadAll(c); err == nil {
			t.Error("a connection that was reset ended in order")
		}
		other := f.dial()
		f.say(other, "after")
		f.hears("after")
	}
}

// The server has heard, and the client does not know.
func TestHeldUpOnTheWayBack(t *testing.T) {
	f := newFar(t)
	c := f.dial()
	f.say(c, "before")
	f.answers(c, "before")
	f.hears("before")
	f.proxy.become(weather{down: true})
	f.say(c, "call")
	f.hears("call")
	f.proxy.reset()
	if got, err := io.ReadAll(c); err == nil || len(got) > 0 {
		t.Errorf("the client heard %q, %v", got, err)
	}
	f.proxy.become(weather{})
}

func TestRefused(t *testing.T) {
	f := newFar(t)
	f.proxy.become(weather{refuse: true})
	if c, err := net.Dial("tcp", f.proxy.addr()); err == nil { // else it was reset already
		if got, err := io.ReadAll(c); err == nil || len(got) > 0 {
			t.Errorf("got %q, %v, want a reset", got, err)
		}
	}
	f.proxy.become(weather{})
	c := f.dial()
	f.say(c, "again")
	f.answers(c, "again")
}
