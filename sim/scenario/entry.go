package scenario

import (
	"reflect"

	"backwave/sim"
)

// EntryText returns an entry of a timeline as Format writes it, on one line.
func EntryText(f sim.Fault) string { return flow(anyFault{}.write(reflect.ValueOf(&f).Elem())) }

// TimelineLines returns the line, from 1, on which each entry of the timeline of
// a file begins. An error is of type Errors, as of Parse.
func TimelineLines(file string, src []byte) ([]int, error) {
	if _, err := Parse(file, src); err != nil {
		return nil, err
	}
	var out []int
	if n := (&decoder{file: file}).load(src).find("timeline"); n != nil {
		for _, item := range n.items {
			out = append(out, item.line)
		}
	}
	return out, nil
}
