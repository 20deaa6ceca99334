package scenario

import (
	"encoding"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"backwave/store"
)

// kind is a kind of value in a file: how it is read into a Go value, written
// from one, described to a JSON Schema and to people.
type kind interface {
	read(d *decoder, n *node, v reflect.Value)
	write(v reflect.Value) *node // nil: there is nothing to write
	schema(s *schemas) any
	what() string // for people, such as "duration, at least 1s"
}

// word is text in one line: a name.
type word struct{ reserved []string }

func (k word) read(d *decoder, n *node, v reflect.Value) {
	s, ok := d.text(n, k.what())
	switch {
	case !ok:
	case s == "" || len(s) > store.MaxName || strings.ContainsFunc(s, unprintable):
		d.fail(n, s, "not a name", k.what())
	case slices.Contains(k.reserved, s):
		d.fail(n, s, "is reserved", "another name")
	default:
		v.SetString(s)
	}
}

func (k word) write(v reflect.Value) *node { return textNode(v.String()) }

func (k word) schema(*schemas) any {
	return object{"type": "string", "minLength": 1, "maxLength": store.MaxName}
}

func (k word) what() string { return fmt.Sprintf("name of 1 to %d bytes", store.MaxName) }

// unprintable reports what a name must not contain, so that it can stand in a
// line of a story.
func unprintable(r rune) bool { return !strconv.IsPrint(r) }

// prose is text of any length and number of lines.
type prose struct{}

func (k prose) read(d *decoder, n *node, v reflect.Value) {
	if s, ok := d.text(n, k.what()); ok {
		v.SetString(s)
	}
}

func (k prose) write(v reflect.Value) *node { return textNode(v.String()) }
func (k prose) schema(*schemas) any         { return object{"type": "string"} }
func (k prose) what() string                { return "text" }

// duration is a span as time.ParseDuration reads it.
type duration struct {
	min, max time.Duration
	instant  bool // of true time: must lie within the scenario
}

func (k duration) read(d *decoder, n *node, v reflect.Value) {
	if n.shape == number && n.text == "0" {
		n = &node{shape: text, line: n.line, col: n.col, text: "0s"}
	}
	if n.shape == number {
		d.fail(n, n.text, "has no unit", k.what())
		return
	}
	s, ok := d.text(n, k.what())
	if !ok {
		return
	}
	t, err := time.ParseDuration(s)
	switch {
	case err != nil:
		d.fail(n, s, "not a duration", k.what())
	case t < k.min || t > k.max:
		d.fail(n, s, "out of range", k.what())
	default:
		v.SetInt(int64(t))
		if k.instant {
			d.instants = append(d.instants, instant{n, t})
		}
	}
}

func (k duration) write(v reflect.Value) *node { return plainNode(span(time.Duration(v.Int()))) }

func (k duration) schema(s *schemas) any { return s.duration(k.what()) }

func (k duration) what() string {
	name := "duration"
	if k.instant {
		name = "instant since the start"
	}
	switch {
	case k.min < 0:
		return fmt.Sprintf("%s, %s to %s, such as -1ms or 45s", name, span(k.min), span(k.max))
	case k.min == 0:
		return fmt.Sprintf("%s up to %s, such as 45s or 1h30m", name, span(k.max))
	}
	return fmt.Sprintf("%s, %s to %s, such as 45s or 1h30m", name, span(k.min), span(k.max))
}

// span prints t as people write it: 2m, not 2m0s.
func span(t time.Duration) string {
	s := t.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// integer is a whole number.
type integer struct{ min, max int64 }

func (k integer) read(d *decoder, n *node, v reflect.Value) {
	if n.shape != number {
		d.wrong(n, k.what())
		return
	}
	i, err := strconv.ParseInt(n.text, 10, 64)
	if err != nil || i < k.min || i > k.max {
		d.fail(n, n.text, "out of range", k.what())
		return
	}
	v.SetInt(i)
}

func (k integer) write(v reflect.Value) *node { return plainNode(fmt.Sprint(v.Interface())) }

func (k integer) schema(*schemas) any {
	return object{"type": "integer", "minimum": k.min, "maximum": k.max}
}

func (k integer) what() string { return fmt.Sprintf("number, %d to %d", k.min, k.max) }

// seed is a number of 64 bits without a sign.
type seed struct{}

func (k seed) read(d *decoder, n *node, v reflect.Value) {
	i, err := strconv.ParseUint(n.text, 10, 64)
	switch {
	case n.shape != number:
		d.wrong(n, k.what())
	case err != nil:
		d.fail(n, n.text, "out of range", k.what())
	default:
		v.SetUint(i)
	}
}

func (k seed) write(v reflect.Value) *node { return plainNode(strconv.FormatUint(v.Uint(), 10)) }

func (k seed) schema(*schemas) any {
	return object{"type": "integer", "minimum": 0, "maximum": uint64(math.MaxUint64)}
}

func (k seed) what() string { return "number, 0 to 2⁶⁴ − 1" }

// toggle is yes or no; on a pointer, its absence is a third value.
type toggle struct{}

func (k toggle) read(d *decoder, n *node, v reflect.Value) {
	if n.shape != boolean {
		d.wrong(n, k.what())
		return
	}
	if v.Kind() == reflect.Pointer {
		v.Set(reflect.New(v.Type().Elem()))
		v = v.Elem()
	}
	v.SetBool(strings.EqualFold(n.text, "true"))
}

func (k toggle) write(v reflect.Value) *node {
	return plainNode(strconv.FormatBool(reflect.Indirect(v).Bool()))
}

func (k toggle) schema(*schemas) any { return object{"type": "boolean"} }
func (k toggle) what() string        { return "true or false" }

// choice is one of a few words.
type choice []string

func (k choice) read(d *decoder, n *node, v reflect.Value) {
	s, ok := d.text(n, k.what())
	if !ok {
		return
	}
	if !slices.Contains(k, s) {
		d.misspelt(n, "unknown", k.what(), k)
		return
	}
	if u, ok := v.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if err := u.UnmarshalText([]byte(s)); err != nil {
			d.fail(n, s, err.Error(), k.what())
		}
		return
	}
	v.SetString(s)
}

func (k choice) write(v reflect.Value) *node { return textNode(fmt.Sprint(v.Interface())) }
func (k choice) schema(*schemas) any         { return object{"enum": []string(k)} }
func (k choice) what() string                { return "one of " + listed(k) }

// ref is the name of something else in the file.
type ref struct{ to target }

// target is what a name can refer to.
type target string

const (
	toNode    target = "node"
	toClock   target = "node or clock"
	toGroup   target = "group"
	toJob     target = "job"
	toJobs    target = "job or set of jobs" // one of a count, or all of them
	toQueue   target = "queue"
	toHandler target = "name of a job"
)

func (k ref) read(d *decoder, n *node, v reflect.Value) {
	if s, ok := d.text(n, k.what()); ok {
		v.SetString(s)
		d.mentions = append(d.mentions, mention{n, k.to, s})
	}
}

func (k ref) write(v reflect.Value) *node { return textNode(v.String()) }
func (k ref) schema(*schemas) any         { return object{"type": "string"} }

func (k ref) what() string {
	if k.to == toClock {
		return "node, or store for the store's clock"
	}
	return string(k.to)
}
