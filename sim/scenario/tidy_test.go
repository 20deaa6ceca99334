package scenario

import (
	"reflect"
	"strings"
	"testing"

	"backwave/scenarios"
)

const untidy = `# What it is about.
# Two lines.
level:   recoverable # it heals
name: "x"
for: 60s
groups:
    - queues: ["a"]
      name: g
      # below the name
      pool: 20   # beside
      claim-batch: 3 # another
nodes: [{name: n1}]
jobs:
  # the only job
  - {id: j1, unique: "a # b", run: [{for: 1s}]}
timeline:
  - at: 1s # when
    crash: n1
    # never
    restart: 0s
# the end
`

const tidied = `# What it is about.
# Two lines.
name: x
# it heals
level: recoverable
for: 1m
groups:
  - name: g
    queues: [a]
    # below the name
    # beside
    pool: 20
    # another
    claim-batch: 3
nodes:
  - {name: n1}
jobs:
  # the only job
  - {id: j1, unique: "a # b", run: {for: 1s}}
timeline:
  # when
  # never
  - {at: 1s, crash: n1}
# the end
`

func TestTidy(t *testing.T) {
	got, err := Tidy("x.yaml", []byte(untidy))
	if err != nil || string(got) != tidied {
		t.Errorf("%v, got\n%s\nwant\n%s", err, got, tidied)
	}
	if _, err := Tidy("x.yaml", []byte(strings.Replace(untidy, "60s", "60", 1))); err == nil {
		t.Error("a file with a mistake was tidied")
	}
}

// TestTidyKeepsWhatIsShipped: the same world, the same comments, and nothing
// more to do.
func TestTidyKeepsWhatIsShipped(t *testing.T) {
	for _, name := range scenarios.Names() {
		src, err := scenarios.FS.ReadFile(scenarios.File(name))
		if err != nil {
			t.Fatal(err)
		}
		once, err := Tidy(name, src)
		if err != nil {
			t.Fatal(err)
		}
		twice, err := Tidy(name, once)
		if err != nil || string(once) != string(twice) {
			t.Errorf("%s: tidied twice it differs: %v\n%s\n%s", name, err, once, twice)
		}
		before, _ := Parse(name, src)
		after, _ := Parse(name, once)
		if !reflect.DeepEqual(before, after) {
			t.Errorf("%s: another world than before", name)
		}
		for _, c := range commentsOf(src) {
			if !strings.Contains(string(once), "#"+c.text+"\n") {
				t.Errorf("%s: the comment %q is gone", name, c.text)
			}
		}
	}
}

func TestLint(t *testing.T) {
	src := `name: x
level: recoverable
for: 10s
groups:
  - {name: g, queues: [a]}
  - {name: h, queues: [b]}
  - {name: i, queues: [c]}
nodes:
  - {name: n1, groups: [g, i]}
  - {name: n2, groups: g, start: 10s}
jobs:
  - {id: j1, run: {for: 1s}}
  - {id: j2, queue: b}
timeline:
  - {at: 1s, crash: n2}
  - {on-call: n1/g, call: claim, nth: 1, do: double}
  - {on-call: n1/g, call: renew, nth: 100, do: double}
`
	got, err := Lint("x.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	want := []Warning{
		{6, "no node runs group h"},
		{7, "no job is in a queue that group i serves"},
		{10, "node n2 starts at 10s, when the world is over"},
		{13, "job j2 is in queue b, which no node serves"},
		{15, "hits nothing: tried with 3 seeds"},
		{17, "hits nothing: tried with 3 seeds"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// TestShippedAreLinted: what is shipped is an example to others.
func TestShippedAreLinted(t *testing.T) {
	for _, name := range scenarios.Names() {
		src, err := scenarios.FS.ReadFile(scenarios.File(name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := Lint(name, src)
		if err != nil || len(got) > 0 {
			t.Errorf("%s: %v %v", name, got, err)
		}
	}
}
