package browsertest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// The first violation, its message and its moment are there when a page opens.
func TestViolationIsInViewAtOnce(t *testing.T) {
	page := twoHolders(t)
	if len(page.Violations) != 1 {
		t.Fatalf("the history violates %d times", len(page.Violations))
	}
	b := desktop.open(t, page)
	v := page.Violations[0]
	b.want("#violation", v.Invariant, v.Message, "1 / ")
	b.want("#verdict", "violated")
	if from, to := b.view(); from > float64(v.At) || to < float64(v.At) {
		t.Errorf("the view is from %.0f to %.0f, the violation at %d", from, to, v.At)
	}
	if from, to := b.view(); to-from > float64(page.Length)/5 {
		t.Errorf("the view is the whole run, not what is around the violation")
	}
	b.place("violation", 0)
	b.shot("violated")
	b.key("0")
	b.shot("violated-whole")
}

// A run that held opens as a whole.
func TestWholeRunIsInView(t *testing.T) {
	page := shipped(t, "zombie-returns")
	b := desktop.open(t, page)
	if from, to := b.view(); from > 0 || to < float64(page.Length) {
		t.Errorf("the view is from %.0f to %.0f of %d", from, to, page.Length)
	}
	b.want("#title", "zombie-returns")
	b.want("#verdict", "held")
	b.want("#facts", "seed 1", "trace ")
	if hidden := eval[bool](b, "document.getElementById('violation').hidden"); !hidden {
		t.Error("a violation is shown of a run that held")
	}
	b.shot("held")
}

// A click on a job tells of all its attempts and how they ended.
func TestClickOnAJobTellsItsAttempts(t *testing.T) {
	b := desktop.open(t, shipped(t, "zombie-returns"))
	b.do(chromedp.MouseClickXY(b.place("job", 0)))
	b.settle()
	b.want("#panel", "j1", "succeeded", "#1", "lapse", "told to stop", "lease lost", "FENCED", "#2", "success", "n2.1/default/0")
	b.want("#now", "j1")
	b.shot("job")
	b.do(chromedp.MouseClickXY(b.place("run", 1)))
	b.settle()
	b.want("#panel", "j1#2", "returns: success")
	b.do(chromedp.MouseClickXY(b.place("lease", 0)))
	b.settle()
	b.want("#panel", "as the store knows it", "lapse")
	b.do(chromedp.MouseClickXY(b.place("view", 0)))
	b.settle()
	b.want("#panel", "as n1 believes it")
	b.key(kb.Escape)
	b.want("#panel", "Legend")
}

// The mouse over a call shows its three events, and those that did not come.
func TestHoverOverACallTellsItsEvents(t *testing.T) {
	page := shipped(t, "one-way-partition-lost-reply")
	b := desktop.open(t, page)
	lost, whole := -1, -1
	for i, c := range page.Calls {
		switch {
		case c.Kind == "renew" && c.Lost >= 0 && lost < 0:
			lost = i
		case c.Kind == "report" && c.Answered >= 0 && whole < 0:
			whole = i
		}
	}
	if lost < 0 || whole < 0 {
		t.Fatal("the scenario has no lost renewal, or no report")
	}
	hover := func(i int) {
		at := float64(page.Calls[i].Sent)
		eval[int](b, fmt.Sprintf("(timeline.show(%f, %f), 0)", at-20e6, at+40e6))
		b.settle()
		x, y := b.place("call", i)
		b.do(mouse(input.DispatchMouseEventTypeMouseMoved, x, y))
		b.settle()
	}
	hover(whole)
	b.want("#tip", "report", "sent ", "applied ", "answered ", "success")
	b.shot("call")
	hover(lost)
	b.want("#tip", "renew", "sent ", "is lost at", "never answered")
	b.shot("call-lost")
}

// Everything can be done from the keyboard.
func TestKeys(t *testing.T) {
	page := shipped(t, "zombie-returns")
	b := desktop.open(t, page)
	b.do(chromedp.Focus("#chart"))
	width := func() float64 { from, to := b.view(); return to - from }
	whole := width()
	b.key("+", "+", "+")
	if near := width(); near >= whole/2 {
		t.Errorf("three times + shows %.0f of %.0f ns", near, whole)
	}
	b.key(kb.Home)
	if from, _ := b.view(); from > 0 {
		t.Errorf("Home goes to %.0f", from)
	}
	b.key(kb.ArrowRight, kb.ArrowRight)
	right, _ := b.view()
	if right <= 0 {
		t.Errorf("two steps to the right go to %.0f", right)
	}
	b.key(kb.ArrowLeft)
	if left, _ := b.view(); left >= right {
		t.Errorf("a step to the left goes from %.0f to %.0f", right, left)
	}
	b.key(kb.End)
	if _, to := b.view(); to < float64(page.Length) {
		t.Errorf("End goes to %.0f of %d", to, page.Length)
	}
	near := width()
	b.key("-")
	if far := width(); far <= near {
		t.Errorf("- shows %.0f of %.0f ns", far, near)
	}
	b.key("0", kb.Home, "n")
	b.want("#now", page.Events[0].Text)
	b.key("n", "n")
	b.want("#now", page.Events[2].Text)
	b.key("p")
	b.want("#now", page.Events[1].Text)
	b.key("f")
	b.want("#now", "report")
	b.want("#panel", "FENCED")
	b.key("?")
	if !eval[bool](b, "document.getElementById('help').open") {
		t.Error("? opens no help")
	}
	b.want("#help", "next, previous event", "filter by job or node")
	b.shot("help")
	b.key(kb.Escape)
	if eval[bool](b, "document.getElementById('help').open") {
		t.Error("Escape leaves the help open")
	}
}

// Tab reaches every control, what has the focus can be seen, and each control has
// a name.
func TestFocusAndNames(t *testing.T) {
	b := desktop.open(t, parsed(t, cutOff))
	reached := map[string]bool{}
	for range 40 {
		b.do(chromedp.KeyEvent(kb.Tab))
		id := eval[string](b, "document.activeElement.id || document.activeElement.tagName")
		reached[id] = true
		if id != "BODY" && eval[string](b, "getComputedStyle(document.activeElement).outlineStyle") == "none" {
			t.Errorf("nobody sees that %s has the focus", id)
		}
	}
	for _, id := range []string{"filter", "zoomin", "zoomout", "fit", "evnext", "evprev", "idle", "chart", "tab-details", "theme", "helpopen", "vnext", "vshow"} {
		if !reached[id] {
			t.Errorf("Tab does not reach %s: %v", id, reached)
		}
	}
	nameless := eval[[]string](b, `[...document.querySelectorAll("button, input")].filter((e) =>
		!(e.getAttribute("aria-label") || e.innerText.trim() || (e.labels && e.labels.length && e.labels[0].innerText.trim()))).map((e) => e.outerHTML)`)
	if len(nameless) > 0 {
		t.Errorf("without a name: %v", nameless)
	}
}

// The wheel zooms at the mouse, a drag moves, the map goes anywhere.
func TestMouseMovesAndZooms(t *testing.T) {
	page := shipped(t, "zombie-returns")
	b := desktop.open(t, page)
	from, to := b.view()
	b.do(send(input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseWheel, X: 600, Y: 400, DeltaX: 0.01, DeltaY: -300}))
	b.settle()
	f, e := b.view()
	if e-f >= to-from {
		t.Errorf("the wheel shows %.0f ns of %.0f", e-f, to-from)
	}
	under := func(f, e float64) float64 { // the instant below the mouse
		w := eval[[2]float64](b, "[document.getElementById('canvas').clientWidth, timeline.gutter()]")
		return f + (600-w[1])/(w[0]-w[1])*(e-f)
	}
	if d := under(f, e) - under(from, to); max(d, -d) > (to-from)/500 {
		t.Errorf("the wheel moved the instant below the mouse by %.0f ns", d)
	}
	b.do(chromedp.DragAndDropXY(600, 400, 400, 400, 5))
	b.settle()
	if g, _ := b.view(); g <= f {
		t.Errorf("a drag to the left goes from %.0f to %.0f", f, g)
	}
	b.key("+", "+", "+")
	y := eval[float64](b, "document.getElementById('map').getBoundingClientRect().top + 10")
	b.do(chromedp.MouseClickXY(1200, y))
	b.settle()
	if g, h := b.view(); (g+h)/2 < float64(page.Length)*0.8 {
		t.Errorf("a click at the end of the map goes to %.0f of %d", (g+h)/2, page.Length)
	}
	b.do(chromedp.Click("#fit"))
	b.settle()
	if g, h := b.view(); g > 0 || h < float64(page.Length) {
		t.Errorf("Fit shows %.0f to %.0f of %d", g, h, page.Length)
	}
}

// The filter leaves what belongs to jobs or nodes.
func TestFilter(t *testing.T) {
	b := desktop.open(t, parsed(t, cutOff))
	rows := func(kind string) int {
		return eval[int](b, fmt.Sprintf("timeline.rows().filter((r) => r.kind === %q).length", kind))
	}
	if rows("job") != 6 || rows("node") != 3 {
		t.Fatalf("there are rows of %d jobs and %d nodes", rows("job"), rows("node"))
	}
	if first := eval[string](b, "timeline.data.jobs[timeline.rows().find((r) => r.kind === 'job').job].n"); first != "j-2" {
		t.Errorf("the first row is that of %s, want j-2, of which something is violated", first)
	}
	b.do(chromedp.Focus("#chart"))
	b.key("/")
	if id := eval[string](b, "document.activeElement.id"); id != "filter" {
		t.Fatalf("/ goes to %q", id)
	}
	b.filter("j-2")
	b.settle()
	if rows("job") != 1 || rows("node") != 3 {
		t.Errorf("j-2 leaves rows of %d jobs and %d nodes", rows("job"), rows("node"))
	}
	b.want("#now", "1 of 6 jobs")
	b.filter("n2 j-")
	b.settle()
	if rows("job") != 6 || rows("node") != 1 {
		t.Errorf("n2 j- leaves rows of %d jobs and %d nodes", rows("job"), rows("node"))
	}
	b.key(kb.Escape)
	if id := eval[string](b, "document.activeElement.id"); id != "chart" {
		t.Errorf("Escape goes from the filter to %q", id)
	}
	b.do(chromedp.Click("#tab-events"))
	b.settle()
	if text := b.says("#panel"); strings.Contains(text, "n1 starts") || !strings.Contains(text, "n2 starts") {
		t.Errorf("the events of n2 are\n%s", text)
	}
}

// The page goes by the theme of the system until somebody chooses one.
func TestThemes(t *testing.T) {
	page := parsed(t, cutOff)
	ground := "getComputedStyle(document.body).backgroundColor"
	light, dark := desktop, desktop
	dark.dark = true
	b := light.open(t, page)
	white := eval[string](b, ground)
	b = dark.open(t, page)
	black := eval[string](b, ground)
	if white == black {
		t.Errorf("both themes have the ground %s", white)
	}
	b.shot("dark")
	b.key("t") // light
	if got := eval[string](b, ground); got != white {
		t.Errorf("t goes to the ground %s, want %s", got, white)
	}
	b.want("#now", "Theme: light")
	b.key("t") // dark
	b.key("t") // as the system
	if got := eval[string](b, ground); got != black {
		t.Errorf("as the system the ground is %s, want %s", got, black)
	}
}

// On a phone nothing hangs over the edge, and a tap chooses.
func TestPhone(t *testing.T) {
	for _, page := range []struct {
		name string
		open func() *tab
	}{
		{"phone-violated", func() *tab { return phone.open(t, parsed(t, cutOff)) }},
		{"phone-held", func() *tab { return phone.open(t, shipped(t, "zombie-returns")) }},
	} {
		b := page.open()
		if wide := eval[int](b, "document.documentElement.scrollWidth"); wide > int(phone.wide) {
			t.Errorf("%s is %d wide on a screen of %d", page.name, wide, phone.wide)
		}
		b.shot(page.name)
	}
	b := phone.open(t, shipped(t, "zombie-returns"))
	eval[int](b, "(document.getElementById('chart').scrollIntoView(), 0)")
	x, y := b.place("run", 1)
	b.do(chromedp.TapXY(x, y))
	b.settle()
	b.want("#panel", "j1#2")
	eval[int](b, "(document.querySelector('aside').scrollIntoView(), 0)")
	b.shot("phone-details")
}

// Names and texts are texts, whatever is in them.
func TestTextIsNeverMarkup(t *testing.T) {
	page := shipped(t, "zombie-returns")
	evil := `</script><img src=x onerror="window.hurt=1">🦊 '"&amp; ` + "\u2028" + ` <b>{{data}}`
	page.Title, page.Story, page.Plan = evil, evil, evil
	page.Jobs[0].Name, page.Nodes[0], page.Workers[0].Name = evil, evil, evil
	page.Events[3].Text, page.Shades[0].Text = evil, evil
	b := desktop.open(t, page)
	if eval[bool](b, "'hurt' in window || document.querySelector('img, b:not(#tip b, .attempt b)') !== null") {
		t.Error("a text has become markup")
	}
	if got := eval[string](b, "document.getElementById('title').textContent"); got != evil {
		t.Errorf("the title is %q, want %q", got, evil)
	}
	if got := eval[string](b, "document.title"); got != strings.ReplaceAll(evil, "\u2028", " ")+" – timeline" && got != evil+" – timeline" {
		t.Errorf("the title of the document is %q", got)
	}
	b.do(chromedp.MouseClickXY(b.place("job", 0)))
	b.settle()
	b.want("#panel h2", "🦊", "</script>")
	b.do(chromedp.Click("#tab-plan"))
	if got := eval[string](b, "document.getElementById('plan').textContent"); got != evil {
		t.Errorf("the plan is %q", got)
	}
	if eval[bool](b, "'hurt' in window") {
		t.Error("a text has become markup")
	}
}

// The order of calls that makes sense, and the call that then does not.
func TestOrderOfCalls(t *testing.T) {
	page := twoHolders(t)
	if len(page.Linear) != 1 || len(page.Jobs) != 2 {
		t.Fatalf("the history has %d jobs without an order, want 1", len(page.Linear))
	}
	b := desktop.open(t, page)
	b.want("#violation", "linearizable")
	b.shot("history")
	b.do(chromedp.Click("#tab-linear"))
	b.settle()
	b.want("#panel", "could have taken effect in this order", "call 1", "Then this one could not", "because another lease was in force")
	b.shot("order")
	b.do(chromedp.Click("#panel .stuck button"))
	b.settle()
	b.want("#panel", fmt.Sprintf("call %d", page.Linear[0].Next.Call), "claim of host/2/q/0/bb")
}

// The plan and the command are there to be copied.
func TestPlan(t *testing.T) {
	page := shipped(t, "zombie-returns")
	b := desktop.open(t, page)
	b.do(chromedp.Click("#tab-plan"))
	b.settle()
	b.want("#panel", "bwsim run zombie-returns --seed 1", "plan: {version: 1, seed: 1", "pause: n1")
}

// Of ten thousand events and more, only what can be seen is painted and in the
// document.
func TestLargePage(t *testing.T) {
	page := large(t, 2500)
	if len(page.Events) < 10_000 {
		t.Fatalf("the page has %d events", len(page.Events))
	}
	b := desktop.open(t, page)
	b.shot("large")
	b.do(chromedp.Click("#tab-events"))
	b.settle()
	if n := eval[int](b, "document.querySelectorAll('*').length"); n > 600 {
		t.Errorf("the document has %d elements", n)
	}
	eval[int](b, "(timeline.show(300e9, 302e9), 0)")
	b.settle()
	if n := eval[int](b, "timeline.painted()"); n == 0 || n > 1500 {
		t.Errorf("two seconds of twenty minutes are painted as %d things", n)
	}
	b.shot("large-zoomed")
	b.filter("j-1999")
	b.settle()
	b.do(chromedp.MouseClickXY(b.place("job", 1998)))
	b.settle()
	b.want("#panel", "j-1999", "succeeded")
}

// What goes wrong in a page is seen, or all of these tests would see nothing.
func TestFaultsOfPagesAreSeen(t *testing.T) {
	b := desktop.openHTML(t, []byte(`<div id="tabs"><button>x</button></div><img src="http://127.0.0.1:9/x.png"><script>console.error("said"); null.x</script>`))
	b.settle()
	got := strings.Join(b.takeFaults(), "\n")
	for _, want := range []string{"asks for http://127.0.0.1:9/x.png", "throws", "logs an error"} {
		if !strings.Contains(got, want) {
			t.Errorf("nobody saw that the page %s:\n%s", want, got)
		}
	}
}

// BenchmarkPaint paints a page of 16,000 events again and again: as a whole, and
// two seconds of it.
func BenchmarkPaint(b *testing.B) {
	p := desktop.open(b, large(b, 2500))
	for _, c := range []struct{ name, show string }{{"whole", "0, 1200e9"}, {"near", "300e9, 302e9"}} {
		b.Run(c.name, func(b *testing.B) {
			p.t = b
			eval[int](p, "(timeline.show("+c.show+"), 0)")
			for b.Loop() {
				eval[int](p, "(timeline.paint(), document.getElementById('canvas').getContext('2d').getImageData(0, 0, 1, 1).data[0])")
			}
		})
	}
}
