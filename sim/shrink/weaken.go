package shrink

import (
	"reflect"
	"slices"
	"time"

	"backwave/sim"
)

// singles are all edits that take away or weaken one thing: an entry of a
// list, or one value. They are found by walking over the scenario, so that what
// the language gets in addition is shrunk as well.
func singles(s *search) (out []edit) {
	w := &walker{stop: -1}
	w.scenario(clone(s.plan.Scenario))
	for k := range w.seen {
		out = append(out, func(p *Plan) { (&walker{stop: k}).scenario(p.Scenario) })
	}
	return out
}

// walker visits everything in a scenario that could be simpler, and makes the
// stop-th of these changes; with stop < 0 it counts them.
type walker struct {
	stop  int
	seen  int
	done  bool
	fault bool // inside an entry of the timeline
}

// turn reports whether the next change is to be made.
func (w *walker) turn() bool {
	if w.done {
		return false
	}
	w.done = w.seen == w.stop
	w.seen++
	return w.done
}

// own are fields that passes of their own look after, or that mean nothing to
// the run.
var own = []string{"Name", "Story", "Level", "For", "Seed"}

func (w *walker) scenario(sc *sim.Scenario) {
	v := reflect.ValueOf(sc).Elem()
	for i := range v.NumField() {
		if !slices.Contains(own, v.Type().Field(i).Name) {
			w.value(v.Field(i), v.Type().Field(i).Name)
		}
	}
}

// value visits v, a field called name or a part of one.
func (w *walker) value(v reflect.Value, name string) {
	switch {
	case w.done || !v.CanSet():
	case v.Type() == reflect.TypeFor[time.Duration]():
		for _, d := range simplerSpans(time.Duration(v.Int())) {
			if d == 0 && w.fault && name == "For" {
				continue // a fault that never ends is no weaker
			}
			if w.turn() {
				v.SetInt(int64(d))
			}
		}
	case v.CanInt():
		for _, n := range simplerNumbers(v.Int()) {
			if w.turn() {
				v.SetInt(n)
			}
		}
	case v.Kind() == reflect.Slice:
		w.list(v, name)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			w.value(v.Field(i), v.Type().Field(i).Name)
		}
	case v.Type() == faultType:
		w.entry(v)
	case v.Kind() == reflect.Func, v.Kind() == reflect.Interface: // no data
	case !v.IsZero(): // a word, a flag, an option
		w.option(v, name)
	}
}

// option visits what can be left out.
func (w *walker) option(v reflect.Value, name string) {
	if w.fault && name == "Group" {
		return // it would mean all groups
	}
	if w.turn() {
		v.SetZero()
	}
	if v.Kind() == reflect.Pointer && !w.done {
		w.value(v.Elem(), name)
	}
}

// list visits a list: each entry can go, then be weakened.
func (w *walker) list(v reflect.Value, name string) {
	all := v.Len() == 1 && v.Type() == reflect.TypeFor[[]string]() // without its last name it would mean all
	for i := 0; i < v.Len() && !w.done && !all; i++ {
		if w.turn() {
			rest := reflect.AppendSlice(v.Slice(0, i), v.Slice(i+1, v.Len()))
			if rest.Len() == 0 {
				rest = reflect.Zero(v.Type())
			}
			v.Set(rest)
		}
	}
	for i := 0; i < v.Len() && !w.done; i++ {
		if v.Index(i).Kind() != reflect.String { // names are nobody's to change
			w.value(v.Index(i), name)
		}
	}
}

// entry visits an entry of the timeline.
func (w *walker) entry(v reflect.Value) {
	f := copied(v.Elem())
	w.fault = true
	w.value(f, "")
	w.fault = false
	v.Set(f)
}

// units are what spans are rounded to, the roughest first.
var units = []time.Duration{
	time.Hour, 10 * time.Minute, time.Minute, 10 * time.Second, time.Second,
	100 * time.Millisecond, 10 * time.Millisecond, time.Millisecond,
	100 * time.Microsecond, 10 * time.Microsecond, time.Microsecond, 100 * time.Nanosecond, 10 * time.Nanosecond,
}

// simplerSpans returns what is simpler than d, the simplest first: nothing at
// all, then what has fewer digits, then what has no more of them and is
// shorter. Below a second being round is enough.
func simplerSpans(d time.Duration) (out []time.Duration) {
	if d == 0 {
		return nil
	}
	if d < 0 {
		for _, x := range simplerSpans(-d) {
			out = append(out, -x)
		}
		return out
	}
	out = append(out, 0)
	propose := func(x time.Duration) {
		fewer := digits(x) < digits(d) || digits(x) == digits(d) && x < d
		if fewer && !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	for _, u := range units {
		propose(down(d, u))
		propose(up(d, u))
	}
	if d > time.Second {
		for _, u := range units {
			propose(max(time.Second, down(d/2, u)))
			propose(max(time.Second, down(d-u, u)))
		}
	}
	return out
}

func down(d, unit time.Duration) time.Duration { return d - d%unit }
func up(d, unit time.Duration) time.Duration   { return down(d+unit-1, unit) }

// digits counts the figures of d that a person has to read: those of its
// seconds without zeros at either end.
func digits(d time.Duration) (n int) {
	for d != 0 && d%10 == 0 {
		d /= 10
	}
	for ; d != 0; d /= 10 {
		n++
	}
	return n
}

// simplerNumbers returns what is nearer to zero than n: nothing, one, then
// less and less of a change.
func simplerNumbers(n int64) (out []int64) {
	if n == 0 {
		return nil
	}
	sign, size := int64(1), n
	if n < 0 {
		sign, size = -1, -n
	}
	out = append(out, 0)
	if size > 1 {
		out = append(out, sign)
	}
	for k := 1; size>>k > 0; k++ {
		if x := size - size>>k; x > 1 {
			out = append(out, sign*x)
		}
	}
	return out
}
