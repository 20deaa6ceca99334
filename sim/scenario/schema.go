package scenario

import (
	"encoding/json"
	"strings"
)

// object is a JSON object; its keys are written in order.
type object = map[string]any

// schemas collects the definitions of a JSON Schema.
type schemas struct{ defs object }

// Schema returns the JSON Schema (draft 2020-12) of scenarios and plans. It
// knows what a file looks like; names, instants and settings that must fit
// together are Parse's to judge.
func Schema() []byte {
	s := &schemas{defs: object{}}
	root := s.mapping(scenarioTable())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "BackWave scenario or plan"
	root["$defs"] = s.defs
	out, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		panic(err) // objects of strings, numbers and objects always marshal
	}
	return append(out, '\n')
}

// record refers to the definition of t.
func (s *schemas) record(t *table) any {
	name := strings.ReplaceAll(t.name, " ", "-")
	for _, f := range faultTables() {
		if f.of == t.of {
			name = "fault-" + name
		}
	}
	if _, ok := s.defs[name]; !ok {
		s.defs[name] = nil // a table that holds itself would come back here
		s.defs[name] = s.mapping(t)
	}
	return object{"$ref": "#/$defs/" + name}
}

func (s *schemas) mapping(t *table) object {
	properties, required := object{}, []string{}
	for i := range t.fields {
		f := &t.fields[i]
		value := f.kind.schema(s)
		doc := f.doc
		if f.def != "" {
			doc += " Default: " + f.def + "."
		}
		if o, ok := value.(object); ok && o["description"] == nil {
			o["description"] = doc
		}
		properties[f.key] = value
		if f.need {
			required = append(required, f.key)
		}
	}
	out := object{"type": "object", "description": t.doc, "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}

// duration is text as Go's time.ParseDuration reads it, or a bare 0.
func (s *schemas) duration(string) any {
	s.defs["duration"] = object{
		"type":    []string{"string", "integer"},
		"pattern": `^([-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))*$|^[-+]?0$`,
		"minimum": 0, "maximum": 0,
		"description": "A duration with units, such as 45s or 1h30m; the number 0 needs none.",
	}
	return object{"$ref": "#/$defs/duration"}
}
