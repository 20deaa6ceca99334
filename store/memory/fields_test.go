package memory

import (
	"reflect"
	"strings"
	"testing"

	"backwave/store"
)

// sharedByClones are the parts that Clone does not copy, and why not.
var sharedByClones = map[string]string{
	"rows.Payload":   "nobody changes the bytes of a request",
	"rows.Output":    "nobody changes the bytes of a request",
	"rows.Progress":  "nobody changes the bytes of a request",
	"rows.Ends":      "both append, and the copy has no spare room",
	"clock":          "it is the caller's",
	"changes":        "what the last Apply did, which a copy has not done",
	"listed":         "scratch",
	"aside":          "scratch",
	"audits.Command": "commands are values",
}

// filled returns a store with something in each of its parts.
func filled(t *testing.T) *Store {
	t.Helper()
	s := New(&fixed{1_700_000_000_000_000})
	id := store.JobID{1}
	for _, r := range []store.Request{
		&store.Enqueue{Jobs: []store.NewJob{{ID: id, Name: "n", Queue: "a", UniqueKey: "k"}, {ID: store.JobID{2}, Name: "n", Queue: "a"}, {ID: store.JobID{3}, Name: "n", Queue: "a"}}},
		&store.Claim{Worker: "w", Number: 1, Queues: []store.Quota{{Queue: "a"}}, Max: 2, Lease: store.MinLease},
		&store.Do{Actor: "me", RequestID: "r", Command: store.Pause{Queue: "a"}},
	} {
		if _, err := s.Apply(r); err != nil {
			t.Fatal(err)
		}
	}
	s.Hold(id)
	return s
}

type fixed struct{ at store.Instant }

func (f *fixed) Now() store.Instant { return f.at }

// A new part of a store has to be copied by Clone, or listed here with a
// reason.
func TestACloneSharesNothingElse(t *testing.T) {
	s := filled(t)
	c := s.Clone(s.clock)
	s.changes, s.listed, s.aside = nil, nil, nil
	c.results["r"] = s.results["r"]
	if !reflect.DeepEqual(s, c) {
		t.Error("a clone is not the same")
	}
	apart(t, reflect.ValueOf(s).Elem(), reflect.ValueOf(c).Elem(), "")
}

func apart(t *testing.T, a, b reflect.Value, path string) {
	t.Helper()
	switch {
	case sharedByClones[path] != "":
	case a.Kind() == reflect.Struct:
		for i := range a.NumField() {
			apart(t, a.Field(i), b.Field(i), strings.TrimPrefix(path+"."+a.Type().Field(i).Name, "."))
		}
	case a.Kind() == reflect.Slice, a.Kind() == reflect.Map:
		if a.Len() == 0 {
			t.Errorf("%s is empty, so nothing shows whether it is copied", path)
		} else if a.UnsafePointer() == b.UnsafePointer() {
			t.Errorf("%s is shared by a store and its clone: copy it, or list it as one that nobody changes", path)
		}
		for i := range a.Len() {
			if a.Kind() == reflect.Slice {
				apart(t, a.Index(i), b.Index(i), path)
			}
		}
	case a.Kind() == reflect.Pointer, a.Kind() == reflect.Interface, a.Kind() == reflect.Array && a.Type().Elem().Kind() != reflect.Uint8:
		t.Errorf("%s: a %v is not looked into", path, a.Type())
	}
}
