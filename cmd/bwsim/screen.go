package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// screen is where a command prints: what it found to out, progress and errors
// to err. It is not safe for goroutines.
type screen struct {
	out    *bufio.Writer
	err    io.Writer
	colour bool // out is a terminal that wants colour
	live   bool // err is a terminal: progress is drawn over itself
	drawn  bool
}

func newScreen(stdout, stderr io.Writer) *screen {
	return &screen{
		out: bufio.NewWriter(stdout), err: stderr, live: terminal(stderr),
		colour: terminal(stdout) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
	}
}

// terminal reports whether w is a terminal, or at least a character device.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func (s *screen) printf(format string, args ...any) { fmt.Fprintf(s.out, format, args...) }

// flush shows what was printed so far. Progress makes room for it.
func (s *screen) flush() {
	if s.out.Buffered() == 0 {
		return
	}
	s.wipe()
	_ = s.out.Flush() // an error stays with the writer; close tells of it
}

// close prints what is left, and reports whether everything has been printed.
func (s *screen) close() bool {
	s.wipe()
	err := s.out.Flush()
	if err != nil {
		fmt.Fprintf(s.err, "bwsim: print the result: %v\n", err)
	}
	return err == nil
}

func (s *screen) wipe() {
	if s.drawn {
		fmt.Fprint(s.err, "\r\x1b[K")
		s.drawn = false
	}
}

// note tells of something that is not part of the result.
func (s *screen) note(format string, args ...any) {
	s.wipe()
	fmt.Fprintf(s.err, format+"\n", args...)
}

// progress shows how far a long run is.
func (s *screen) progress(text string) {
	s.wipe()
	if !s.live {
		fmt.Fprintln(s.err, text)
		return
	}
	fmt.Fprint(s.err, text)
	s.drawn = true
}

// pace is how often progress is worth showing.
func (s *screen) pace() time.Duration {
	if s.live {
		return 200 * time.Millisecond
	}
	return 5 * time.Second
}

// The colours, as ANSI sequences.
const (
	bold   = "1"
	dim    = "2"
	red    = "31"
	green  = "32"
	yellow = "33"
	cyan   = "36"
)

func (s *screen) paint(colour, text string) string {
	if !s.colour || text == "" {
		return text
	}
	return "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// clock prints a time of a world as m:ss.mmm.
func clock(d time.Duration) string {
	ms := d.Milliseconds()
	return fmt.Sprintf("%d:%02d.%03d", ms/60_000, ms/1000%60, ms%1000)
}

// grouped prints n with commas between the thousands.
func grouped(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// count prints "1 job", "2 jobs".
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return grouped(uint64(n)) + " " + noun + "s"
}

// quote makes arg one word of a shell.
func quote(arg string) string {
	plain := func(r rune) bool {
		return strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=,:@%+", r)
	}
	if arg != "" && strings.TrimFunc(arg, plain) == "" {
		return arg
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
