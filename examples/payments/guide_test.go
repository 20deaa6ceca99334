package payments_test

import (
	"bytes"
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"backwave/engine"
	"backwave/examples/payments"
	"backwave/sim/simtest"
)

var update = flag.Bool("update", false, "renew the output in the guide")

const guide = "../../docs/testing-your-jobs.md"

// What the guide quotes is what is printed.
func TestGoldenGuide(t *testing.T) {
	was, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	now := was
	for name, draft := range map[string]func(payments.Bank) *engine.Mux{"careless": payments.Careless, "checking": payments.Checking} {
		block := regexp.MustCompile(`(?s)(<!-- ` + name + ` -->\n).*?(<!-- end -->)`)
		if !block.Match(now) {
			t.Fatalf("%s has no block %q", guide, name)
		}
		out := "```\n" + simtest.Find(t, world(draft)).String() + "\n```\n"
		now = block.ReplaceAllFunc(now, func([]byte) []byte { return []byte("<!-- " + name + " -->\n" + out + "<!-- end -->") })
	}
	switch {
	case bytes.Equal(was, now):
	case *update:
		if err := os.WriteFile(guide, now, 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is not what is printed: go test ./examples/payments -update", guide)
	}
}

// Its code is the code that is run, but for what stands in no file of it.
func TestTheGuideQuotesThisCode(t *testing.T) {
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	var code string
	for _, name := range []string{"payments.go", "payments_test.go"} {
		src, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		code += string(src)
	}
	quoted := 0
	for _, m := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		switch {
		case strings.Contains(code, m[1]):
			quoted++
		case !strings.HasPrefix(m[1], "sim.OnHandler"):
			t.Errorf("no file has\n%s", m[1])
		}
	}
	if quoted < 5 {
		t.Errorf("%d pieces of code are quoted, want 5", quoted)
	}
}
