// Package scenarios holds the scenarios that BackWave ships. It knows their
// names and texts only; package sim/scenario reads them.
package scenarios

import (
	"embed"
	"path"
	"strings"
)

// FS holds the files NAME.yaml, and schema.json, the JSON Schema of their
// language.
//
//go:embed *.yaml schema.json
var FS embed.FS

// Names returns the names of the shipped scenarios, sorted.
func Names() []string {
	entries, err := FS.ReadDir(".")
	if err != nil {
		panic(err) // the root of an embedded file system is always there
	}
	var out []string
	for _, e := range entries {
		if name, ok := strings.CutSuffix(e.Name(), ".yaml"); ok {
			out = append(out, name)
		}
	}
	return out
}

// File returns the path within FS of the scenario called name.
func File(name string) string { return path.Clean(name) + ".yaml" }
