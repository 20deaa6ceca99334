package scenario

import (
	"fmt"
	"strings"

	"backwave/sim"
)

// reference returns the tables of docs/scenarios.md by the names under which
// they stand there: one for each mapping, and "faults" and "people" for the
// entries of a timeline.
func reference() map[string]string {
	out := map[string]string{"faults": "", "people": ""}
	for _, t := range []*table{scenarioTable(), planTable(), netTable(), clockTable(), groupTable(), policyTable(), nodeTable(), jobTable(), scriptTable(), expectTable(), expectJobTable(), healthTable()} {
		out[t.name] = markdown(t.docs())
	}
	for _, f := range Faults() {
		section := "faults"
		if f.People {
			section = "people"
		}
		out[section] += fmt.Sprintf("\n#### `%s`\n\n%s\n%s", f.Name, f.Doc, markdown(f.Fields))
	}
	out["situations"] = "\n"
	for _, s := range sim.Situations() {
		out["situations"] += "- `" + s + "`\n"
	}
	return out
}

func markdown(fields []FieldDoc) string {
	var b strings.Builder
	b.WriteString("\n| key | value | default | meaning |\n|---|---|---|---|\n")
	for _, f := range fields {
		def := f.Default
		if f.Need {
			def = "(required)"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", f.Name, f.Value, def, f.Doc)
	}
	return b.String()
}
