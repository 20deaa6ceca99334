package pump

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"backwave/store"
)

// seer is a Walker that notes where what it is shown lies.
type seer struct{ at map[unsafe.Pointer]bool }

func (s seer) see(p unsafe.Pointer)     { s.at[p] = true }
func (s seer) Text(v *string)           { s.see(unsafe.Pointer(v)) }
func (s seer) Byte(v *uint8)            { s.see(unsafe.Pointer(v)) }
func (s seer) Bool(v *bool)             { s.see(unsafe.Pointer(v)) }
func (s seer) Int(v *int)               { s.see(unsafe.Pointer(v)) }
func (s seer) Op(v *Op)                 { s.see(unsafe.Pointer(v)) }
func (s seer) LastOp(v *Op)             { s.see(unsafe.Pointer(v)) }
func (s seer) Number(v *uint64)         { s.see(unsafe.Pointer(v)) }
func (s seer) Key(v *store.LeaseKey)    { s.see(unsafe.Pointer(v)) }
func (s seer) Due(v *Time)              { s.see(unsafe.Pointer(v)) }
func (s seer) Since(v *Time)            { s.see(unsafe.Pointer(v)) }
func (s seer) AnyDue(v *Time)           { s.see(unsafe.Pointer(v)) }
func (s seer) Span(v *time.Duration)    { s.see(unsafe.Pointer(v)) }
func (s seer) Outcome(v *store.Outcome) { s.see(unsafe.Pointer(v)) }
func (s seer) Bytes(v *[]byte)          { s.see(unsafe.Pointer(v)) }
func (s seer) Len(have int) (want int)  { return have }

// full returns a pump with something in each of its lists. In all lanes a call
// is under way, or in none.
func full(inFlight bool) *Pump {
	key := store.LeaseKey{Attempt: 1, Claim: 1}
	p := New(Config{Queues: []Queue{{Name: "q", Weight: 1}}, Weighted: true}, "w", 0)
	p.held.insert(0, held{key: key})
	p.claiming.open = true
	p.claiming.awaited = []sentClaim{{}}
	p.claiming.accepted = []store.LeaseKey{key}
	if inFlight {
		for k := range p.lanes {
			p.lanes[k].op = 1
			p.lanes[k].renew = []store.RenewRow{{Key: key}}
			p.lanes[k].report = []store.ReportRow{{Key: key}}
		}
	}
	return p
}

// notWalked are the fields that a Walk does not show, and why not.
var notWalked = map[string]string{
	"cfg":               "the same for all pumps of a world",
	"now":               "any later step brings it",
	"held.free":         "where attempts lie decides nothing",
	"held.order":        "where attempts lie decides nothing",
	"dispatch.queues":   "of cfg",
	"dispatch.weighted": "of cfg",
	"dispatch.total":    "of cfg",
	"dispatch.strict":   "of cfg",
	"sweeps":            "of cfg",
}

// A new field of a pump has to be shown by Walk, or listed here with a reason.
func TestAWalkShowsEveryField(t *testing.T) {
	seen := map[string]bool{}
	missed := map[string]bool{}
	for _, inFlight := range []bool{true, false} {
		p := full(inFlight)
		s := seer{map[unsafe.Pointer]bool{}}
		p.Walk(s)
		leaves(reflect.ValueOf(p).Elem(), "", func(path string, v reflect.Value) {
			if s.at[unsafe.Pointer(v.UnsafeAddr())] {
				seen[path] = true
			} else {
				missed[path] = true
			}
		})
	}
	for path := range missed {
		listed := slices.ContainsFunc([]string{path, strings.SplitN(path, ".", 2)[0]}, func(p string) bool { return notWalked[p] != "" })
		if !seen[path] && !listed {
			t.Errorf("field %s of a pump is not shown by Walk: show it, or list it as one that decides nothing", path)
		}
	}
	for path := range notWalked {
		if seen[path] {
			t.Errorf("field %s is listed as not shown by Walk, and it is", path)
		}
	}
}

// leaves calls visit for everything in v that is not made of parts: lists by
// their elements, and structs by their fields, but for keys.
func leaves(v reflect.Value, path string, visit func(string, reflect.Value)) {
	join := func(name string) string { return strings.TrimPrefix(path+"."+name, ".") }
	_, listed := notWalked[path]
	switch {
	case listed, v.Type() == reflect.TypeFor[store.LeaseKey](), v.Type() == reflect.TypeFor[[]byte]():
		visit(path, v)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			leaves(v.Field(i), join(v.Type().Field(i).Name), visit)
		}
	case v.Kind() == reflect.Slice, v.Kind() == reflect.Array:
		for i := range v.Len() {
			leaves(v.Index(i), path, visit)
		}
	default:
		visit(path, v)
	}
}

// shared are the parts that Clone does not copy, and why not.
var shared = map[string]string{
	"cfg.Queues":      "nobody changes a configuration",
	"cfg.Timeouts":    "nobody changes a configuration",
	"cfg.Terms":       "nobody changes a configuration",
	"dispatch.queues": "of cfg",
	"dispatch.strict": "handed out in requests, which nobody changes",
	"sweeps":          "handed out in requests, which nobody changes",
	"lanes.renew":     "handed out in requests, which nobody changes",
	"lanes.report":    "handed out in requests, which nobody changes",
}

// A new part of a pump has to be copied by Clone, or listed here with a reason.
func TestACloneSharesNothingElse(t *testing.T) {
	p := full(true)
	p.held.free = []int32{7}
	c := p.Clone()
	if !reflect.DeepEqual(p, c) {
		t.Error("a clone is not the same")
	}
	together(t, reflect.ValueOf(p).Elem(), reflect.ValueOf(c).Elem(), "")
}

func together(t *testing.T, a, b reflect.Value, path string) {
	t.Helper()
	if shared[path] != "" {
		return
	}
	switch {
	case a.Kind() == reflect.Struct:
		for i := range a.NumField() {
			together(t, a.Field(i), b.Field(i), strings.TrimPrefix(path+"."+a.Type().Field(i).Name, "."))
		}
	case a.Kind() == reflect.Array:
		for i := range a.Len() {
			together(t, a.Index(i), b.Index(i), path)
		}
	case a.Kind() == reflect.Slice && a.Len() == 0:
		if path != "held.slots.progress" { // of an attempt without any
			t.Errorf("%s is empty, so nothing shows whether it is copied", path)
		}
	case a.Kind() == reflect.Slice && a.UnsafePointer() == b.UnsafePointer():
		t.Errorf("%s is shared by a pump and its clone: copy it, or list it as one that nobody changes", path)
	case a.Kind() == reflect.Slice:
		for i := range a.Len() {
			together(t, a.Index(i), b.Index(i), path)
		}
	case a.Kind() == reflect.Interface && a.IsNil(): // an outcome, of an attempt without any
	case a.Kind() == reflect.Interface, a.Kind() == reflect.Map, a.Kind() == reflect.Pointer, a.Kind() == reflect.Func, a.Kind() == reflect.Chan:
		t.Errorf("%s: a %v is not looked into", path, a.Type())
	}
}
