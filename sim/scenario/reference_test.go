package scenario

import (
	"os"
	"reflect"
	"regexp"
	"testing"
	"time"

	"backwave/engine/pump"
	"backwave/sim"
)

// section is a generated part of the document: a marker, the text, a marker.
var section = regexp.MustCompile(`(?s)<!-- table: ([a-z ]+) -->\n.*?<!-- end -->`)

func TestReferenceIsCurrent(t *testing.T) {
	const file = "../../docs/scenarios.md"
	src, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	tables, seen := reference(), map[string]bool{}
	want := section.ReplaceAllFunc(src, func(m []byte) []byte {
		name := string(section.FindSubmatch(m)[1])
		seen[name] = true
		if tables[name] == "" {
			t.Errorf("%s has a place for the table %q, which there is not", file, name)
		}
		return []byte("<!-- table: " + name + " -->\n" + tables[name] + "\n<!-- end -->")
	})
	for name := range tables {
		if !seen[name] {
			t.Errorf("%s has no place for the table %q", file, name)
		}
	}
	if *update {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(src) != string(want) {
		t.Errorf("%s is not what the tables say: go test ./sim/scenario -update", file)
	}
}

// Every field of the Go types can be said in a file, so that a plan loses
// nothing.
func TestTablesCoverTheTypes(t *testing.T) {
	covered := map[reflect.Type]map[string]bool{}
	var visit func(t *table)
	visit = func(tab *table) {
		for i := range tab.fields {
			f := &tab.fields[i]
			if covered[tab.of] == nil {
				covered[tab.of] = map[string]bool{}
			}
			covered[tab.of][f.path] = true
			if r, ok := f.kind.(record); ok {
				visit(r.table)
			}
			if m, ok := f.kind.(many); ok {
				if r, ok := m.of.(record); ok {
					visit(r.table)
				}
			}
		}
	}
	visit(scenarioTable())
	for _, f := range faultTables() {
		visit(f)
	}
	for typ, paths := range covered {
		if typ == reflect.TypeFor[document]() {
			wantFields(t, reflect.TypeFor[sim.Scenario](), "Scenario.", paths)
			continue
		}
		if typ == reflect.TypeFor[sim.Group]() {
			delete(paths, "Config")
			wantFields(t, reflect.TypeFor[pump.Config](), "Config.", paths, "Queues", "Weighted", "Terms")
			wantFields(t, typ, "", paths, "Config")
			continue
		}
		wantFields(t, typ, "", paths, "Jitter", "NoJitter")
	}
}

func wantFields(t *testing.T, typ reflect.Type, prefix string, paths map[string]bool, special ...string) {
	t.Helper()
	for f := range typ.Fields() {
		ok := paths[prefix+f.Name]
		for _, s := range special { // read and written by a kind of their own
			ok = ok || s == f.Name
		}
		if !ok {
			t.Errorf("%v has the field %s, which no file can say", typ, f.Name)
		}
	}
}

func TestFaults(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range Faults() {
		if f.Name == "" || f.Doc == "" || seen[f.Name] || len(f.Fields) == 0 {
			t.Errorf("%+v", f)
		}
		seen[f.Name] = true
	}
	if len(seen) != 27 {
		t.Errorf("%d kinds of entries, want the 27 of package sim", len(seen))
	}
}

// The defaults that the reference names are those of the pump.
func TestDocumentedDefaults(t *testing.T) {
	c := reflect.ValueOf(pump.Config{}.Resolved())
	for _, f := range groupTable().fields {
		name, ok := cutConfig(f.path)
		if !ok || f.def == "" {
			continue
		}
		v := c.FieldByName(name)
		if d, err := time.ParseDuration(f.def); err == nil && v.Interface() != d {
			t.Errorf("%s: documented default %s, the pump's is %v", f.key, f.def, v)
		}
		if i, ok := v.Interface().(int); ok && plainNode(f.def).text != (integer{}).write(reflect.ValueOf(i)).text {
			t.Errorf("%s: documented default %s, the pump's is %d", f.key, f.def, i)
		}
	}
}

func cutConfig(path string) (string, bool) {
	const prefix = "Config."
	if len(path) <= len(prefix) || path[:len(prefix)] != prefix || path == "Config.Terms.Default" {
		return "", false
	}
	return path[len(prefix):], true
}
