package browsertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"backwave/sim/timeline"
)

// browser finds a Chromium, or installs Debian's if that is needed and allowed.
var browser = sync.OnceValues(func() (string, error) {
	if name, ok := find(); ok {
		return name, nil
	}
	const advice = "set BW_TEST_BROWSER to a Chromium, or install the package chromium"
	apt, err := exec.LookPath("apt-get")
	if err != nil || os.Geteuid() != 0 {
		return "", errors.New("no Chromium was found: " + advice)
	}
	for _, args := range [][]string{{"update"}, {"install", "-y", "--no-install-recommends", "chromium", "fonts-dejavu-core"}} {
		c := exec.Command(apt, append([]string{"-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=2"}, args...)...)
		c.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := c.CombinedOutput(); err != nil && args[0] == "install" { // an old list may do
			return "", fmt.Errorf("apt-get install chromium: %w: %s\n%s", err, advice, out)
		}
	}
	if name, ok := find(); ok {
		return name, nil
	}
	return "", errors.New("the package chromium brought no browser: " + advice)
})

func find() (string, bool) {
	for _, name := range []string{os.Getenv("BW_TEST_BROWSER"), "chromium", "chromium-browser", "google-chrome", "google-chrome-stable"} {
		if name == "" {
			continue
		}
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
	}
	return "", false
}

// start starts the browser of this process, once; it ends with the process, when
// the pipe to it breaks.
var start = sync.OnceValues(func() (context.Context, error) {
	name, err := browser()
	if err != nil {
		return nil, err
	}
	opts := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(name), chromedp.Flag("hide-scrollbars", false), chromedp.WSURLReadTimeout(0))
	if os.Geteuid() == 0 {
		opts = append(opts, chromedp.NoSandbox)
	}
	alloc, stop := chromedp.NewExecAllocator(context.Background(), opts...)
	ctx, cancel := chromedp.NewContext(alloc)
	end = func() { cancel(); stop() }
	return ctx, chromedp.Do(ctx)
})

var end = func() {}

func TestMain(m *testing.M) {
	code := m.Run()
	end()
	os.Exit(code)
}

// screen is how a page is looked at.
type screen struct {
	wide, high int64
	phone      bool
	dark       bool
}

var desktop, phone = screen{wide: 1280, high: 800}, screen{wide: 390, high: 844, phone: true}

// tab is a page on show. All that goes wrong in it fails the test.
type tab struct {
	t   testing.TB
	ctx context.Context

	mu     sync.Mutex
	faults []string
}

// wrong notes that something went wrong.
func (b *tab) wrong(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.faults = append(b.faults, fmt.Sprintf(format, args...))
}

// takeFaults returns what went wrong so far, and forgets it.
func (b *tab) takeFaults() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := b.faults
	b.faults = nil
	return out
}

func (s screen) open(t testing.TB, page *timeline.Page) *tab {
	t.Helper()
	var b bytes.Buffer
	if err := page.Write(&b); err != nil {
		t.Fatal(err)
	}
	return s.openHTML(t, b.Bytes())
}

func (s screen) openHTML(t testing.TB, html []byte) *tab {
	t.Helper()
	root, err := start()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, html, 0o644); err != nil {
		t.Fatal(err)
	}
	b := &tab{t: t}
	ctx, cancel := chromedp.NewContext(root, chromedp.WithListener(func(ev any) {
		switch ev := ev.(type) {
		case *runtime.EventExceptionThrown:
			b.wrong("the page throws: %v", ev.ExceptionDetails)
		case *runtime.EventConsoleAPICalled:
			if ev.Type == runtime.ConsoleAPICalledTypeError {
				b.wrong("the page logs an error: %v", ev.Args)
			}
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(ev.Request.URL, "file://"+file) {
				b.wrong("the page asks for %s", ev.Request.URL)
			}
		}
	}))
	b.ctx = ctx
	t.Cleanup(func() {
		cancel()
		for _, f := range b.takeFaults() {
			t.Error(f)
		}
	})
	theme := "light"
	if s.dark {
		theme = "dark"
	}
	opts := []chromedp.EmulateViewportOption{}
	if s.phone {
		opts = append(opts, chromedp.EmulateMobile, chromedp.EmulateTouch)
	}
	b.do(send(network.Enable, network.EnableParams{}), chromedp.EmulateViewport(s.wide, s.high, opts...),
		send(emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}}),
		chromedp.Navigate("file://"+file), chromedp.WaitReady("#tabs button"))
	return b
}

// send sends a command of the protocol.
func send[P, R any](c cdp.Command[P, R], params P) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, c, params)
		return err
	})
}

// mouse sends what a mouse does.
func mouse(typ input.DispatchMouseEventType, x, y float64) chromedp.Action[chromedp.Void] {
	p := input.DispatchMouseEventParams{Type: typ, X: x, Y: y}
	return send(input.DispatchMouseEvent, p)
}

// typed types a text where the focus is.
func typed(text string) chromedp.Action[chromedp.Void] {
	return send(input.InsertText, input.InsertTextParams{Text: text})
}

func (b *tab) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	if err := chromedp.Do(b.ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// eval returns what an expression in the page is.
func eval[T any](b *tab, js string) T {
	b.t.Helper()
	out, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%v\nin %s", err, js)
	}
	return out
}

// settle waits until the page has painted what was done so far: two frames on.
func (b *tab) settle() {
	b.t.Helper()
	eval[bool](b, "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))")
}

// says returns the text of an element.
func (b *tab) says(selector string) string {
	b.t.Helper()
	return eval[string](b, fmt.Sprintf("(document.querySelector(%q) || {innerText: '(no such element)'}).innerText", selector))
}

// want fails unless an element's text holds all of some words.
func (b *tab) want(selector string, words ...string) {
	b.t.Helper()
	text := b.says(selector)
	for _, w := range words {
		if !strings.Contains(text, w) {
			b.t.Errorf("%s says\n%s\nwant %q in it", selector, text, w)
		}
	}
}

// view returns what is in view, in nanoseconds.
func (b *tab) view() (from, to float64) {
	b.t.Helper()
	v := eval[[2]float64](b, "[timeline.view.from, timeline.view.to]")
	return v[0], v[1]
}

// place returns where something is painted.
func (b *tab) place(kind string, at int) (x, y float64) {
	b.t.Helper()
	p := eval[*struct{ X, Y float64 }](b, fmt.Sprintf("timeline.where(%q, %d)", kind, at))
	if p == nil {
		b.t.Fatalf("no %s %d is painted", kind, at)
	}
	return p.X, p.Y
}

// key presses a key as a person does.
func (b *tab) key(keys ...string) {
	b.t.Helper()
	for _, k := range keys {
		b.do(chromedp.KeyEvent(k))
	}
	b.settle()
}

// filter types into the filter, in place of what is there.
func (b *tab) filter(text string) {
	b.t.Helper()
	eval[bool](b, "(document.getElementById('filter').focus(), document.getElementById('filter').value = '', true)")
	b.do(typed(text))
	b.settle()
}

// shot keeps a picture of the page for people, and sees that it is not empty.
func (b *tab) shot(name string) {
	b.t.Helper()
	b.settle()
	png, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.t.ArtifactDir(), name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
	colours := eval[int](b, `(() => {
		const c = document.getElementById("canvas"), d = c.getContext("2d").getImageData(0, 0, c.width, c.height).data, seen = new Set();
		for (let i = 0; i < d.length; i += 4) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]);
		return seen.size;
	})()`)
	if colours < 8 {
		b.t.Errorf("%s: the chart has %d colours: it is as good as empty", name, colours)
	}
}
