package scenario

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"backwave/scenarios"
)

// What is written is read back equal, for every field of the language, and
// the schema accepts it.
func TestFormatIsReadBack(t *testing.T) {
	schema := loadSchema(t)
	rapid.Check(t, func(t *rapid.T) {
		sc := drawScenario(t)
		var h Header
		if rapid.Bool().Draw(t, "plan") {
			h = Header{Version: 1, Seed: rapid.Uint64().Draw(t, "seed"), Scenario: rapid.String().Draw(t, "from")}
		}
		text := Format(sc, h)
		back, header, err := ParsePlan("written.yaml", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if header != h || !reflect.DeepEqual(sc, back) {
			t.Fatalf("read back\n%+v\n%+v\nwant\n%+v\n%+v\n%s", header, back, h, sc, text)
		}
		if again := Format(back, header); !bytes.Equal(again, text) {
			t.Fatalf("written again differently:\n%s\n%s", text, again)
		}
		if err := schema.accepts(t, text); err != nil {
			t.Fatalf("the schema refuses it: %v\n%s", err, text)
		}
	})
}

// The shipped files say the same after a round through Format, and leave
// defaults out.
func TestFormatOfShipped(t *testing.T) {
	for _, name := range scenarios.Names() {
		sc, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Parse("formatted.yaml", Format(sc, Header{}))
		if err != nil || !reflect.DeepEqual(sc, back) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFormatIsMinimal(t *testing.T) {
	const src = `name: small
story: |
  First line.

  Second: "quoted".
level: pristine
for: 1m
groups:
  - name: default
    queues: [a, "on"]
nodes:
  - {name: n1}
jobs:
  - {id: j, run: {for: 90s}}
timeline:
  - {at: 1s, cancel: j}
expect:
  jobs:
    - {job: j, attempts: 1.., told: []}
`
	sc, err := Parse("small.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	want := string(bytes.ReplaceAll([]byte(src), []byte("90s"), []byte("1m30s")))
	if got := string(Format(sc, Header{})); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestSchemaIsJSON(t *testing.T) {
	if !json.Valid(Schema()) {
		t.Error("the schema is no JSON")
	}
}
