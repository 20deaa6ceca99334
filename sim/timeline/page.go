package timeline

import (
	"embed"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"strings"

	"backwave/checker"
)

// Page is what one page shows. Instants are nanoseconds since its beginning, of
// true time if a world was observed. Jobs, nodes and workers are named by their
// index. The names in JSON are short, since there are thousands of them.
type Page struct {
	Title   string   `json:"title"`
	Story   string   `json:"story,omitempty"`
	Verdict string   `json:"verdict"`         // "held", "violated", "undecided"
	Facts   []string `json:"facts,omitempty"` // what else is to be known of the run at a glance
	Notes   []string `json:"notes,omitempty"` // what the page does not show, or only guesses
	Repeat  string   `json:"repeat,omitempty"`
	Plan    string   `json:"plan,omitempty"`
	Length  int64    `json:"length"`
	Epoch   string   `json:"epoch,omitempty"` // the time of day at which the page begins; "" in a simulated world

	Nodes      []string    `json:"nodes"`
	Workers    []Worker    `json:"workers"`
	Jobs       []Job       `json:"jobs"`
	Shades     []Shade     `json:"shades"`
	Runs       []Run       `json:"runs"`
	Leases     []Lease     `json:"leases"` // as the store knows them
	Views      []Lease     `json:"views"`  // as the nodes believe them
	Calls      []Call      `json:"calls"`
	Events     []Event     `json:"events"` // what happened in words, in order
	Clocks     []Clock     `json:"clocks"`
	Violations []Violation `json:"violations"`
	Linear     []Linear    `json:"linear,omitempty"`
	Others     []string    `json:"others,omitempty"`  // whom handlers in Go call in the world outside
	Outside    []Outside   `json:"outside,omitempty"` // those calls, in the order in which they leave
}

// None stands for no job, node or worker where one is named by its index, and for
// no instant.
const None = -1

// TheStore and People stand where a node is named by its index.
const (
	TheStore = -1
	People   = -2 // clients and operators
)

// Endless is an instant that never comes. It is the largest whole number that
// every reader of JSON keeps.
const Endless = 1<<53 - 1

// Worker is one start of one pump.
type Worker struct {
	Name    string `json:"n"`
	Node    int    `json:"o"`
	Process int    `json:"p"` // number of the start of its process, from 1
}

// Job is a job and the states it went through.
type Job struct {
	Name   string  `json:"n"`
	ID     string  `json:"id"`
	Queue  string  `json:"q,omitempty"`
	States []State `json:"s,omitempty"`
}

// State is a state of a job from At on.
type State struct {
	At    int64  `json:"t"`
	State string `json:"s"`
}

// Shade is something that went wrong with a lane for a while, or at an instant
// if From equals To.
type Shade struct {
	Kind string `json:"k"` // "down", "pause", "partition", "slow", "outage", "stall", "error", "hold", "mark", …
	Node int    `json:"o"` // index, or TheStore
	Job  int    `json:"j"` // whose row is meant, or None
	From int64  `json:"f"`
	To   int64  `json:"t"`
	Text string `json:"x"`
}

// Run is a handler at work.
type Run struct {
	Job     int    `json:"j"`
	Attempt int    `json:"a"`
	Worker  int    `json:"w"`
	From    int64  `json:"f"`
	To      int64  `json:"t"`
	End     string `json:"e"`           // in words; "still runs" at the end of the page
	Told    []Told `json:"d,omitempty"` // to stop
	Guess   bool   `json:"g,omitempty"` // seen in calls only
	Fenced  bool   `json:"x,omitempty"` // its outcome was answered as stale
}

// Told is what a handler was told, and when.
type Told struct {
	At  int64  `json:"t"`
	Why string `json:"y"`
}

// Lease is a lease on an attempt, as the store has it or as a node believes it.
type Lease struct {
	Job      int      `json:"j"`
	Attempt  int      `json:"a"`
	Claim    uint64   `json:"c"`
	Worker   int      `json:"w"`
	From     int64    `json:"f"`
	To       int64    `json:"t"`           // when it was disposed of, or no longer believed in; None = never seen
	Until    int64    `json:"u"`           // when it runs out, by all that was seen
	Renewals []Extend `json:"r,omitempty"` // in order
	End      string   `json:"e,omitempty"` // how the attempt ended; of a view: why it did
	Next     string   `json:"n,omitempty"` // state of the job that followed
}

// Extend is a new end of a lease.
type Extend struct {
	At    int64 `json:"t"`
	Until int64 `json:"u"`
}

// Call is a call on the store and its three events.
type Call struct {
	ID       uint64  `json:"i"`
	Kind     string  `json:"k"`
	Worker   int     `json:"w"` // None for clients and operators
	Sent     int64   `json:"s"`
	Applied  []int64 `json:"a,omitempty"` // more than one if it arrived twice
	Answered int64   `json:"r"`           // None if its sender heard nothing
	Lost     int64   `json:"l"`           // when request or reply got lost, None if neither did
	Guess    bool    `json:"g,omitempty"` // Applied is guessed from what the store said
	Idle     bool    `json:"z,omitempty"` // it took nothing and changed nothing
	Error    string  `json:"e,omitempty"`
	Hit      string  `json:"h,omitempty"` // the fault that is addressed to it
	Rows     []Row   `json:"o,omitempty"`
}

// Row is what a call is about, and what it was told about that.
type Row struct {
	Job     int    `json:"j"` // or None
	Attempt int    `json:"a"`
	Asked   string `json:"q"`
	Told    string `json:"d,omitempty"`
	Fenced  bool   `json:"x,omitempty"`
}

// Outside is a call of a handler in Go to the world outside and its events.
type Outside struct {
	Run      int    `json:"u"` // whose it is
	Nth      int    `json:"n"` // among the calls of its attempt that faults can hit
	To       int    `json:"o"` // index in Others
	Text     string `json:"x"`
	Left     int64  `json:"s"`
	Arrived  int64  `json:"a"`           // None if it never did
	Refused  bool   `json:"f,omitempty"` // as it arrived, without effect
	Answer   string `json:"d,omitempty"` // in words, if it was carried out
	Answered int64  `json:"r"`           // None if its handler heard nothing
	Lost     int64  `json:"l"`           // when the call or its answer got lost, None if neither did
	Late     int64  `json:"m"`           // when an answer came for which nobody waited, or None
	GivenUp  int64  `json:"g"`           // when its handler went on without an answer, or None
	Why      string `json:"y,omitempty"` // it was given up
	Hit      string `json:"h,omitempty"` // the faults that are addressed to it
}

// Event is one thing that happened, in words.
type Event struct {
	At      int64  `json:"t"`
	Node    int    `json:"o"` // index, TheStore or People
	Job     int    `json:"j"` // or None
	Attempt int    `json:"a,omitempty"`
	Call    uint64 `json:"c,omitempty"`
	Outside int    `json:"v,omitempty"` // 1 + index of a call to the world outside; 0 = none
	Bad     bool   `json:"b,omitempty"` // somebody should look at it
	Text    string `json:"x"`
}

// Clock is a clock beside true time.
type Clock struct {
	Node   int     `json:"o"` // index, or TheStore
	Name   string  `json:"n"`
	Points []Point `json:"p"` // straight between them; two at one instant are a step
}

// Point says how far a clock is ahead.
type Point struct {
	At    int64 `json:"t"`
	Ahead int64 `json:"a"`
}

// Violation is an invariant that did not hold.
type Violation struct {
	Invariant string `json:"i"`
	Sentence  string `json:"s,omitempty"`
	At        int64  `json:"t"`
	Event     uint64 `json:"v,omitempty"` // number of the world's event
	Job       int    `json:"j"`           // or None
	Message   string `json:"x"`
	Expected  bool   `json:"e,omitempty"` // by the scenario's author
}

// Linear is why the calls on a job could not have happened one at a time.
type Linear struct {
	Job     int          `json:"j"`
	Order   []LinearCall `json:"o"` // the longest order that makes sense
	Next    LinearCall   `json:"n"` // the first call that then does not
	Because string       `json:"b"`
	Open    []string     `json:"u,omitempty"` // calls without an answer
}

// LinearCall is a call in such an order.
type LinearCall struct {
	Call uint64 `json:"c"`
	Text string `json:"x"`
}

// Explain adds why the calls on a job could not have happened one at a time.
func (p *Page) Explain(e checker.Explanation) {
	l := Linear{Job: None, Next: LinearCall{e.Next.Call, p.named(e.Next.Text)}, Because: p.named(e.Because)}
	for i := range p.Jobs {
		if p.Jobs[i].ID == e.Job.String() {
			l.Job = i
		}
	}
	for _, o := range e.Order {
		l.Order = append(l.Order, LinearCall{o.Call, p.named(o.Text)})
	}
	for _, text := range e.Open {
		l.Open = append(l.Open, p.named(text))
	}
	p.Linear = append(p.Linear, l)
}

// named puts the names of jobs into a text in place of their ids.
func (p *Page) named(text string) string {
	if !strings.Contains(text, "-") {
		return text
	}
	for i := range p.Jobs {
		if j := &p.Jobs[i]; j.ID != j.Name {
			text = strings.ReplaceAll(text, j.ID, j.Name)
		}
	}
	return text
}

//go:embed assets
var assets embed.FS

// scripts are put together in this order.
var scripts = []string{"model", "scale", "layout", "paint", "marks", "outside", "over", "legend", "details", "input", "main"}

// Write writes p as HTML.
func (p *Page) Write(w io.Writer) error {
	data, err := json.Marshal(p) // escapes <, > and &, so no text can end the script
	if err != nil {
		return fmt.Errorf("timeline: %w", err)
	}
	var script strings.Builder
	for _, name := range scripts {
		script.Write(asset(name + ".js"))
	}
	page := strings.NewReplacer(
		"{{title}}", html.EscapeString(p.Title),
		"{{style}}", string(asset("page.css")),
		"{{data}}", string(data),
		"{{script}}", script.String(),
	)
	if _, err := page.WriteString(w, string(asset("page.html"))); err != nil {
		return fmt.Errorf("timeline: %w", err)
	}
	return nil
}

func asset(name string) []byte {
	b, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // it is in the program
	}
	return b
}
