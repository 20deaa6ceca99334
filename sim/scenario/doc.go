// Package scenario reads and writes scenarios and plans as files. The language
// is described in docs/scenarios.md, which is generated in part from the same
// tables that drive the reader, the writer and the JSON Schema: what they say
// cannot differ.
//
// A file is YAML without anchors, aliases, tags and merge keys. The reader is
// strict and patient: it refuses whatever it does not know, and it reports
// every mistake of a file at once, each with its line and column.
package scenario
