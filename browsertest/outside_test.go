package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"backwave/engine"
	"backwave/examples/payments"
	"backwave/sim"
	"backwave/sim/simtest"
	"backwave/sim/timeline"
)

// failing is a test that fails on purpose: what it leaves is looked at.
type failing struct {
	testing.TB
	dir string
}

func (f *failing) Name() string        { return "TestCharge" }
func (f *failing) ArtifactDir() string { return f.dir }
func (f *failing) Fatal(...any)        { runtime.Goexit() }

// payment returns the page that a failing test of a payment handler leaves, in
// which things go wrong.
func payment(t *testing.T, draft func(payments.Bank) *engine.Mux, faults ...sim.Fault) []byte {
	t.Helper()
	f := &failing{TB: t, dir: t.TempDir()}
	done := make(chan struct{})
	go func() {
		defer close(done)
		simtest.Run(f, orders(draft, faults))
	}()
	<-done
	html, err := os.ReadFile(filepath.Join(f.dir, "timeline.html"))
	if err != nil {
		t.Fatalf("the test left no page: %v", err)
	}
	return html
}

// orders is a world in which an order is charged at a bank, and a letter is
// written in the ledger by the same handler.
func orders(draft func(payments.Bank) *engine.Mux, faults []sim.Fault) simtest.Scenario {
	return simtest.Scenario{
		Jobs:   []simtest.Job{{Name: "charge", Args: payments.Order{ID: "o-1", Cents: 500}}, {Name: "note", Args: "a letter"}},
		Faults: faults,
		Setup: func(w *simtest.World) func() *engine.Mux {
			charges := map[string]int{}
			w.Serve("bank.example", http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					if charges[r.URL.Path] == 0 {
						http.NotFound(rw, r)
					}
					return
				}
				var c payments.Charge
				if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
					http.Error(rw, err.Error(), http.StatusBadRequest)
					return
				}
				charges["/charges/"+c.Order]++
				rw.WriteHeader(http.StatusCreated)
			}))
			w.Always("charged once", func() error {
				if n := charges["/charges/o-1"]; n > 1 {
					return fmt.Errorf("o-1 was charged %d times", n)
				}
				return nil
			})
			return func() *engine.Mux {
				mux := draft(payments.Bank{Client: w.HTTP(), URL: "http://bank.example"})
				engine.Handle(mux, "note", func(ctx context.Context, _ *engine.Job[string]) error {
					return w.Ledger().Write(ctx, "letters", 1)
				})
				return mux
			}
		},
	}
}

// lostAnswer is a charge that went through although its answer was lost, beside
// a write that was refused.
var lostAnswer = []sim.Fault{
	sim.OnHandler{Job: "charge", Attempt: 1, Nth: 1, Do: "lose-reply"},
	sim.OnHandler{Job: "note", Attempt: 1, Nth: 1, Do: "refuse"},
}

// call returns the number of a call to the world outside, by what is said of it.
func (b *tab) call(job string, attempt int, to string) int {
	b.t.Helper()
	i := eval[int](b, fmt.Sprintf(`timeline.data.outside.findIndex((c) => { const r = timeline.data.runs[c.u];
		return timeline.data.jobs[r.j].n === %q && r.a === %d && timeline.data.others[c.o] === %q; })`, job, attempt, to))
	if i < 0 {
		b.t.Fatalf("%s#%d calls no %s", job, attempt, to)
	}
	return i
}

// lanes returns who outside has a lane.
func (b *tab) lanes() []string {
	b.t.Helper()
	return eval[[]string](b, "timeline.rows().filter((r) => r.kind === 'outside').map((r) => timeline.data.others[r.other])")
}

// The page of a failing test tells of the charge that went through although its
// answer was lost.
func TestCallsToTheWorldOutside(t *testing.T) {
	html := payment(t, payments.Careless, lostAnswer...)
	for _, theme := range []string{"light", "dark"} {
		s := desktop
		s.dark = theme == "dark"
		b := s.openHTML(t, html)
		b.want("#violation", "charged once", "o-1 was charged 2 times")
		lost, whole, refused := b.call("charge", 1, "bank.example"), b.call("charge", 2, "bank.example"), b.call("note", 1, "ledger")
		if got := fmt.Sprint(b.lanes()); got != "[bank.example ledger]" {
			t.Errorf("there are lanes of %s", got)
		}
		eval[int](b, "(timeline.show(-1e6, 20e6), 0)")
		b.settle()
		hover := func(i int) {
			x, y := b.place("outside", i)
			b.do(mouse(input.DispatchMouseEventTypeMouseMoved, x, y))
			b.settle()
		}
		away := func() { b.do(mouse(input.DispatchMouseEventTypeMouseMoved, 600, 700)) }
		hover(lost)
		b.want("#tip", "charge#1 calls bank.example: POST /charges", "left 0:00.003", "carried out 0:00.004: 201 Created", "never answered", "the answer is lost at 0:00.004", "given up 0:30.003", "fault: lose-reply")
		b.shot("outside-lost-" + theme)
		hover(refused)
		b.want("#tip", "note#1 calls ledger: write letters +1", "refused 0:00.0", "answered 0:00.0", "fault: refuse")
		b.do(chromedp.MouseClickXY(b.place("outside", lost)))
		b.settle()
		b.want("#panel", "charge#1 calls bank.example", "left ", "carried out ", "never answered", "✕ the answer is lost", "Job: charge")
		away()
		b.shot("outside-chosen-" + theme)
		eval[int](b, "(timeline.show(32.02e9, 32.035e9), 0)")
		b.settle()
		b.do(chromedp.MouseClickXY(b.place("outside", whole)))
		b.settle()
		b.want("#panel", "charge#2 calls bank.example", "carried out 0:32.026: 201 Created", "answered 0:32.028, after ")
		away()
		b.shot("outside-answered-" + theme)
	}
}

// A job's history has its calls to the world outside in order of time.
func TestCallsToTheWorldOutsideOfAJob(t *testing.T) {
	b := desktop.openHTML(t, payment(t, payments.Careless, lostAnswer...))
	b.do(chromedp.MouseClickXY(b.place("job", 0)))
	b.settle()
	text := b.says("#panel")
	at := 0
	for _, want := range []string{
		"#1", "calls bank.example: POST /charges", "201 Created, ✕ the answer is lost", "#2", "201 Created", "IN WORDS",
		"n1 starts charge#1", "charge#1 calls bank.example: POST /charges", "bank.example carries out POST /charges", "LOST: the answer to the call of charge#1 to bank.example",
		"charge#1 gives up on bank.example: no answer for 30s", "charge#1 returns: failure", "charge#2 calls bank.example", "charge#2 is answered by bank.example", "charge#2 returns: success",
	} {
		k := strings.Index(strings.ToLower(text[at:]), strings.ToLower(want))
		if k < 0 {
			t.Fatalf("the history says\n%s\nwant %q after its first %d bytes", text, want, at)
		}
		at += k + len(want)
	}
	b.shot("outside-job")
	b.do(chromedp.MouseClickXY(b.place("run", 0)))
	b.settle()
	b.want("#panel", "Calls to the world outside", "the answer is lost")
}

// The filter and the keys go for calls to the world outside, too.
func TestCallsToTheWorldOutsideByFilterAndKeys(t *testing.T) {
	b := desktop.openHTML(t, payment(t, payments.Careless, lostAnswer...))
	b.filter("job:note")
	if got := fmt.Sprint(b.lanes()); got != "[ledger]" {
		t.Errorf("note leaves the lanes of %s", got)
	}
	b.do(chromedp.Focus("#chart"))
	b.key("o")
	b.want("#panel", "note#1 calls ledger", "✕ refused")
	b.filter("job:charge")
	if got := fmt.Sprint(b.lanes()); got != "[bank.example]" {
		t.Errorf("charge leaves the lanes of %s", got)
	}
	b.do(chromedp.Focus("#chart"))
	b.key("o")
	b.want("#panel", "charge#1 calls bank.example")
	b.want("#now", "charge#1 calls bank.example")
	b.key("o")
	b.want("#panel", "charge#2 calls bank.example")
	b.do(chromedp.Focus("#chart"))
	b.key("?")
	b.want("#help", "next call to the world outside")
}

// A node in the filter leaves the calls of its handlers. Attempt 1 stands still
// between looking and charging, on one node; attempt 2 charges on the other.
func TestCallsToTheWorldOutsideOfANode(t *testing.T) {
	b := desktop.openHTML(t, payment(t, payments.Checking, sim.OnHandler{Job: "charge", Attempt: 1, Nth: 2, Do: "pause", By: 20 * time.Second}))
	calls := func() string {
		return eval[string](b, `timeline.rows().filter((r) => r.kind === "outside" && timeline.data.others[r.other] === "bank.example")
			.flatMap((r) => r.calls.map((i) => { const c = timeline.data.outside[i]; return "#" + timeline.data.runs[c.u].a + " " + c.x.split(" ")[0]; })).join(", ")`)
	}
	if got := calls(); got != "#1 GET, #2 GET, #2 POST, #1 POST" {
		t.Errorf("the bank is called by %s", got)
	}
	b.key("o", "o", "o", "o", "o") // the last one
	b.want("#panel", "charge#1 calls bank.example: POST", "call 2 of the attempt", "carried out 0:20.008: 201 Created", "never answered", "given up 0:20.006: it is told to stop", "an answer comes 0:20.010, and nobody waits for it", "fault: pause 20s")
	eval[int](b, "(timeline.show(20.005e9, 20.014e9), 0)")
	b.shot("outside-late")
	nodes := []string{"#1 GET, #1 POST", "#2 GET, #2 POST"}
	if first := eval[int](b, "timeline.data.workers[timeline.data.runs[timeline.data.outside.find((c) => timeline.data.others[c.o] === 'bank.example').u].w].o"); first == 1 {
		nodes[0], nodes[1] = nodes[1], nodes[0]
	}
	for i, want := range nodes {
		b.filter(fmt.Sprintf("node:n%d", i+1))
		if got := calls(); got != want {
			t.Errorf("n%d leaves the calls %s, want %s", i+1, got, want)
		}
	}
}

// Of ten thousand calls to the world outside only what can be seen is painted.
func TestManyCallsToTheWorldOutside(t *testing.T) {
	page := large(t, 2500)
	page.Others = []string{"bank.example", "ledger"}
	for i, r := range page.Runs {
		step := (r.To - r.From) / 8
		for k := range int64(4) {
			left := r.From + 2*k*step
			page.Outside = append(page.Outside, timeline.Outside{
				Run: i, Nth: int(k) + 1, To: int(k % 2), Text: "POST /charges", Answer: "201 Created",
				Left: left, Arrived: left + step/2, Answered: left + step, Lost: timeline.None, Late: timeline.None, GivenUp: timeline.None,
			})
		}
	}
	if len(page.Outside) < 10_000 {
		t.Fatalf("the page has %d calls to the world outside", len(page.Outside))
	}
	b := desktop.open(t, page)
	b.shot("outside-large")
	eval[int](b, "(timeline.show(300e9, 302e9), 0)")
	b.settle()
	if n := eval[int](b, "timeline.painted()"); n == 0 || n > 2000 {
		t.Errorf("two seconds of twenty minutes are painted as %d things", n)
	}
	b.shot("outside-large-zoomed")
}

// A world of scripts has nobody outside, and its page does not speak of it.
func TestNobodyOutside(t *testing.T) {
	b := desktop.open(t, shipped(t, "zombie-returns"))
	if got := b.lanes(); len(got) > 0 {
		t.Errorf("there are lanes of %v", got)
	}
	b.key("?")
	if strings.Contains(b.says("#help"), "outside") || strings.Contains(b.says("#panel"), "outside") {
		t.Error("the page speaks of the world outside")
	}
}
