package scenario

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"

	"backwave/scenarios"
)

var update = flag.Bool("update", false, "write the schema, the tables of docs/scenarios.md and the golden hashes anew")

func TestSchemaIsCurrent(t *testing.T) {
	const file = "../../scenarios/schema.json"
	if *update {
		if err := os.WriteFile(file, Schema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(Schema()) {
		t.Error("scenarios/schema.json is not what the tables say: go test ./sim/scenario -update")
	}
}

func TestSchemaAcceptsShipped(t *testing.T) {
	schema := loadSchema(t)
	for _, name := range scenarios.Names() {
		src, err := scenarios.FS.ReadFile(scenarios.File(name))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.accepts(t, src); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestSchemaRefuses(t *testing.T) {
	schema := loadSchema(t)
	for _, src := range []string{
		"{}", "[]",
		"{name: a, level: pristine, for: 1, groups: [{name: g, queues: [q]}], nodes: [{name: n}]}",
		"{name: a, level: high, for: 1s, groups: [{name: g, queues: [q]}], nodes: [{name: n}]}",
		"{name: a, level: pristine, for: 1s, groups: [{name: g}], nodes: [{name: n}]}",
		"{name: a, level: pristine, for: 1s, groups: [{name: g, queues: [q], lese: 1s}], nodes: [{name: n}]}",
		"{name: a, level: pristine, for: 1s, groups: [{name: g, queues: {q: 0}}], nodes: [{name: n}]}",
		"{name: a, level: pristine, for: 1s, groups: [{name: g, queues: [q]}], nodes: [{name: n}], timeline: [{at: 1s}]}",
		"{version: 2, name: a, level: pristine, for: 1s, groups: [{name: g, queues: [q]}], nodes: [{name: n}]}",
	} {
		if schema.accepts(t, []byte(src)) == nil {
			t.Errorf("the schema accepts %s", src)
		}
	}
}

// jsonSchema judges by the few keywords that Schema uses.
type jsonSchema struct{ root object }

func loadSchema(t *testing.T) jsonSchema {
	t.Helper()
	var root object
	if err := json.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	return jsonSchema{root}
}

// accepts judges a YAML text as our own reader understands YAML.
func (s jsonSchema) accepts(t interface{ Fatal(...any) }, src []byte) error {
	d := &decoder{file: "schema"}
	n := d.load(src)
	if len(d.errs) > 0 {
		t.Fatal(d.errs)
	}
	return s.judge(s.root, n, "")
}

func (s jsonSchema) judge(rule object, n *node, where string) error {
	if r, ok := rule["$ref"].(string); ok {
		return s.judge(s.root["$defs"].(object)[r[len("#/$defs/"):]].(object), n, where)
	}
	if forms, ok := rule["anyOf"].([]any); ok {
		var all error
		for _, f := range forms {
			err := s.judge(f.(object), n, where)
			if err == nil {
				return nil
			}
			all = errors.Join(all, err)
		}
		return all
	}
	if c, ok := rule["const"]; ok && n.text != fmt.Sprint(c) {
		return fmt.Errorf("%s is %q, want %v", where, n.text, c)
	}
	if e, ok := rule["enum"].([]any); ok && (n.shape != text || !slices.Contains(e, any(n.text))) {
		return fmt.Errorf("%s is %q, want one of %v", where, n.text, e)
	}
	name := [...]string{"null", "boolean", "integer", "string", "array", "object"}[n.shape]
	switch want := rule["type"].(type) {
	case string:
		if want != name {
			return fmt.Errorf("%s is %s, want %s", where, name, want)
		}
	case []any:
		if !slices.Contains(want, any(name)) {
			return fmt.Errorf("%s is %s, want one of %v", where, name, want)
		}
	}
	return s.judgeContent(rule, n, where)
}

func (s jsonSchema) judgeContent(rule object, n *node, where string) error {
	bound := func(key string, otherwise float64) float64 {
		if f, ok := rule[key].(float64); ok {
			return f
		}
		return otherwise
	}
	switch n.shape {
	case number:
		if f, err := strconv.ParseFloat(n.text, 64); err != nil || f < bound("minimum", math.Inf(-1)) || f > bound("maximum", math.Inf(1)) {
			return fmt.Errorf("%s is %s: out of range", where, n.text)
		}
	case text:
		if p, ok := rule["pattern"].(string); ok && !regexp.MustCompile(p).MatchString(n.text) {
			return fmt.Errorf("%s is %q, want %s", where, n.text, p)
		}
	case list:
		if float64(len(n.items)) < bound("minItems", 0) {
			return fmt.Errorf("%s is too short", where)
		}
		for i, item := range n.items {
			if err := s.judge(rule["items"].(object), item, fmt.Sprintf("%s[%d]", where, i)); err != nil {
				return err
			}
		}
	case mapping:
		return s.judgeMapping(rule, n, where)
	case null, boolean:
	}
	return nil
}

func (s jsonSchema) judgeMapping(rule object, n *node, where string) error {
	properties, _ := rule["properties"].(object)
	for _, p := range n.pairs {
		sub, ok := properties[p.key.text].(object)
		if !ok {
			if sub, ok = rule["additionalProperties"].(object); !ok {
				return fmt.Errorf("%s has the unknown key %s", where, p.key.text)
			}
		}
		if err := s.judge(sub, p.value, where+"."+p.key.text); err != nil {
			return err
		}
	}
	required, _ := rule["required"].([]any)
	for _, r := range required {
		if n.find(r.(string)) == nil {
			return fmt.Errorf("%s has no %s", where, r)
		}
	}
	return nil
}
