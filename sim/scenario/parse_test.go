package scenario

import (
	"errors"
	"os"
	"path"
	"reflect"
	"strings"
	"testing"
	"time"

	"backwave/scenarios"
	"backwave/sim"
)

// good is a small file without mistakes; tests break it.
const good = `version: 1
name: small
level: recoverable
for: 3m
groups:
  - name: default
    queues: [emails, reports]
    lease: 60s
    pumps: 2
nodes:
  - {name: n1}
  - {name: n2, start: 10s}
jobs:
  - {id: j1, queue: emails, run: [{for: 90s}, {for: 1s}]}
  - {id: many, count: 3}
timeline:
  - {at: 45s, crash: n1, restart: 5s}
  - {on-call: n1/default/1, call: renew, nth: 2, do: lose-reply}
expect:
  jobs:
    - {job: j1, state: succeeded, attempts: 2..3, ends: [lapse, success]}
    - {job: many-3, attempts: 1, told: []}
`

func TestParse(t *testing.T) {
	sc, err := Parse("small.yaml", []byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if sc.For != 3*time.Minute || sc.Groups[0].Config.LeaseDuration != time.Minute || sc.Jobs[0].Run[0].For != 90*time.Second {
		t.Errorf("read %+v", sc)
	}
	want := []sim.Fault{
		sim.Crash{At: 45 * time.Second, Node: "n1", Restart: 5 * time.Second},
		sim.OnCall{Pump: sim.Address{Node: "n1", Group: "default", Pump: 1}, Call: "renew", Nth: 2, Do: "lose-reply"},
	}
	if !reflect.DeepEqual(sc.Timeline, want) {
		t.Errorf("timeline %+v, want %+v", sc.Timeline, want)
	}
	if e := sc.Expect.Jobs; *e[0].Attempts != (sim.Range{Min: 2, Max: 3}) || e[0].Told != nil || e[1].Told == nil {
		t.Errorf("expect %+v", e)
	}
}

// mistakes are replacements in good and what is said of each.
var mistakes = []struct{ old, new, want string }{
	{"lease: 60s", "lese: 60s", `small.yaml:8:5: "lese": unknown field, want one of name, queues, pumps, pool, lease,`},
	{"lease: 60s", "lese: 60s", `(did you mean "lease"?)`},
	{"lease: 60s", "lease: 60", `small.yaml:8:12: "60": has no unit, want duration, 1s to 87600h`},
	{"lease: 60s", "lease: sixty", `small.yaml:8:12: "sixty": not a duration, want`},
	{"lease: 60s", "lease: 10ms", `small.yaml:8:12: "10ms": out of range, want duration, 1s to`},
	{"lease: 60s", "heartbeat: 50s", `small.yaml:8:16: "50s": heartbeat is 50s: with three operation timeouts`},
	{"lease: 60s", "lease: 60s\n    lease: 30s", `small.yaml:9:5: "lease": is given a second time, after line 8, want each key once`},
	{"lease: 60s", "lease: &a 60s", `small.yaml:8:12: "&": anchors, aliases, tags and merge keys`},
	{"pumps: 2", "pumps: two", `small.yaml:9:12: "two": is text, want number, 1 to 64`},
	{"pumps: 2", "pumps: 65", `small.yaml:9:12: "65": out of range, want number, 1 to 64`},
	{"[emails, reports]", "[]", `small.yaml:7:13: "[…]": an empty list, want`},
	{"[emails, reports]", "[emails, emails]", `small.yaml:7:22: "emails": is listed twice, want each queue once`},
	{"[emails, reports]", "{emails: 0}", `small.yaml:7:22: "0": out of range, want number, 1 to 1000`},
	{"version: 1", "version: 2", `small.yaml:1:10: "2": unknown version of the language (version), want 1, the only one there is`},
	{"name: small\n", "", `small.yaml:1:1: "scenario": has no field "name", want name of`},
	{"level: recoverable", "level: recovrable", `small.yaml:3:8: "recovrable": unknown, want one of pristine, recoverable, adversarial (did you mean "recoverable"?)`},
	{"level: recoverable", "level: pristine", `small.yaml:17:5: "crash": a fault in a pristine scenario`},
	{"{name: n2,", "{name: n1,", `small.yaml:12:12: "n1": is the name of an earlier one`},
	{"{name: n2,", "{name: store,", `small.yaml:12:12: "store": is reserved`},
	{"{name: n2,", "{name: n/2,", `small.yaml:12:12: "n/2": has a slash`},
	{"queue: emails", "queue: email", `small.yaml:14:21: "email": unknown queue, want one of emails, reports (did you mean "emails"?)`},
	{"id: many, count: 3", "id: j1", `small.yaml:15:10: "j1": is the name of an earlier one, want another name`},
	{"{for: 1s}", "{fro: 1s}", `small.yaml:14:48: "fro": unknown field, want one of for, end, after, on-cancel, stop-in, output, progress (did you mean "for"?)`},
	{"crash: n1, restart", "crsh: n1, restart", `small.yaml:17:15: "crsh": unknown field, want one of at, restart`},
	{"crash: n1, restart: 5s", "crsh: n1", `small.yaml:17:15: "crsh": unknown fault, want one of crash, start,`},
	{"crash: n1, restart: 5s", "crash: n1, pause: n2", `small.yaml:17:5: "pause": a second fault in one entry, beside crash`},
	{"crash: n1, restart: 5s", "for: 1s", `small.yaml:17:5: "{at: …}": says when but not what`},
	{"crash: n1", "crash: n3", `small.yaml:17:22: "n3": unknown node, want one of n1, n2`},
	{"at: 45s", "at: 4m", `small.yaml:17:10: "4m": is after the end of the world, want at most 3m`},
	{"at: 45s, crash", "crash", `small.yaml:17:5: "crash": has no field "at", want instant`},
	{"n1/default/1", "n1/default/2", `small.yaml:18:15: "n1/default/2": group default has 2 pump(s) on a node, want a number from 0 to 1`},
	{"n1/default/1", "n1/other", `small.yaml:18:15: "n1/other": n1 runs no group "other"`},
	{"n1/default/1", "n3", `small.yaml:18:15: "n3": unknown node`},
	{"n1/default/1", "n1/default/x", `small.yaml:18:15: "n1/default/x": not the address of a pump`},
	{"lose-reply", "loose-reply", `(did you mean "lose-reply"?)`},
	{"attempts: 2..3", "attempts: 3..2", `small.yaml:21:45: "3..2": not a number or a range, want number or range, such as 2, 2..5, 2.. or ..5`},
	{"ends: [lapse, success]", "ends: lapse", `small.yaml:21:57: "lapse": is text, want list of: success, failure,`},
	{"many-3", "many-4", `small.yaml:22:13: "many-4": unknown job or set of jobs, want one of j1, many, many-1, many-2, many-3`},
	{"nodes:", "nodes", `small.yaml:`},
	{"{name: n1}", "[name: n1", `small.yaml:`},
	{"for: 3m", "for: 3m\n---\nname: other", `"---": a second document, want one scenario in a file`},
}

func TestMistakes(t *testing.T) {
	for _, m := range mistakes {
		if !strings.Contains(good, m.old) {
			t.Fatalf("%q is not in the good file", m.old)
		}
		_, err := Parse("small.yaml", []byte(strings.Replace(good, m.old, m.new, 1)))
		if err == nil {
			t.Errorf("%q for %q is accepted, want %s", m.new, m.old, m.want)
			continue
		}
		if !strings.Contains(err.Error(), m.want) {
			t.Errorf("%q for %q:\n%v\nwant\n%s", m.new, m.old, err, m.want)
		}
	}
}

func TestAllMistakesAtOnce(t *testing.T) {
	src := good
	for _, r := range []string{"60s|60", "crash: n1|crash: n9", "many-3|many-9", "3m|3x"} {
		old, fresh, _ := strings.Cut(r, "|")
		src = strings.Replace(src, old, fresh, 1)
	}
	_, err := Parse("small.yaml", []byte(src))
	list, ok := errors.AsType[Errors](err)
	if !ok || len(list) != 4 {
		t.Fatalf("got %v, want 4 mistakes", err)
	}
	for i, line := range []int{4, 8, 17, 22} {
		if list[i].Line != line {
			t.Errorf("mistake %d is on line %d, want %d: %v", i, list[i].Line, line, list[i])
		}
	}
}

func TestShipped(t *testing.T) {
	for _, name := range scenarios.Names() {
		sc, err := Load(name)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		src, err := scenarios.FS.ReadFile(scenarios.File(name))
		if err != nil {
			t.Fatal(err)
		}
		switch e := sc.Expect; {
		case sc.Name != name:
			t.Errorf("%s: its name is %s", name, sc.Name)
		case sc.Story == "":
			t.Errorf("%s: has no story", name)
		case len(e.Jobs) == 0:
			t.Errorf("%s: expects nothing of any job", name)
		case src[0] != '#':
			t.Errorf("%s: does not begin with a comment that tells what happens", name)
		}
	}
}

// The first example of the reference is a file as it says.
func TestExampleOfReference(t *testing.T) {
	src, err := os.ReadFile("../../docs/scenarios.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(src), "```yaml\n# my.yaml\n")
	example, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("the reference has no example my.yaml")
	}
	sc, err := Parse("my.yaml", []byte(example))
	if err != nil {
		t.Fatal(err)
	}
	if r := sim.Run(sc, sim.Options{Seed: 1}); r.Verdict != sim.Held {
		t.Errorf("it is %s: %+v", r.Verdict, r.Violations)
	}
}

func TestLoadUnknown(t *testing.T) {
	for _, name := range []string{"", "crash-minute-by-minut", "../scenarios/drain", "schema.json"} {
		if _, err := Load(name); err == nil || !strings.Contains(err.Error(), "crash-minute-by-minute") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Whatever a file holds, it is read or refused with a place, and what is read
// can be written and read again.
func FuzzParse(f *testing.F) {
	f.Add(good)
	for _, m := range mistakes {
		f.Add(strings.Replace(good, m.old, m.new, 1))
	}
	for _, s := range []string{"", "a", "- a", "? a\n: b", strings.Repeat("[", 100), strings.Repeat("- ", 100), "{a: {b: [c, {d: e}", "\"\\x", "%YAML", "*a", "!!str a", "<<: a", "\xff", "name: !!binary x\n"} {
		f.Add(s)
	}
	for _, name := range scenarios.Names() {
		if src, err := os.ReadFile(path.Join("../../scenarios", scenarios.File(name))); err == nil {
			f.Add(string(src))
		}
	}
	f.Fuzz(func(t *testing.T, src string) {
		sc, header, err := ParsePlan("fuzz.yaml", []byte(src))
		if err != nil {
			list, ok := errors.AsType[Errors](err)
			if !ok || len(list) == 0 {
				t.Fatalf("%T without mistakes: %v", err, err)
			}
			for _, e := range list {
				if e.Line < 1 || e.Col < 1 || e.Problem == "" {
					t.Errorf("no place or problem: %+v", e)
				}
			}
			return
		}
		back, again, err := ParsePlan("back.yaml", Format(sc, header))
		if err != nil || again != header || !reflect.DeepEqual(Format(back, again), Format(sc, header)) {
			t.Errorf("%v\n%s", err, Format(sc, header))
		}
	})
}
