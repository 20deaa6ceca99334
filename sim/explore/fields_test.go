package explore

import (
	"bytes"
	"reflect"
	"testing"
	"unsafe"
)

// notWritten are the fields of a state that decide nothing, and why.
var notWritten = map[string]string{
	"process.node":    "for stories",
	"process.start":   "for stories",
	"process.pump":    "by its Walk, which has a test of its own",
	"process.ops":     "made by gather",
	"process.numbers": "made by gather",
	"process.keys":    "made by gather",
	"process.touches": "made by gather",
	"process.ends":    "made by writer.owned",
	"process.raw":     "how it was read",
	"process.dirty":   "how it was read",
	"process.blob":    "scratch",

	"call.req":   "by its kind; a request that the reader would not make again is refused",
	"call.reply": "by its kind",

	"book.lanes": "lane by lane",

	"job.id":   "the same in all states",
	"job.name": "the same in all states",

	"Job.ID":          "the same in all states",
	"Job.Seq":         "the same in all states",
	"Job.Name":        "the same in all states",
	"Job.Queue":       "the same in all states",
	"Job.Payload":     "there is none",
	"Job.MaxAttempts": "there is none",
	"Job.UniqueKey":   "there is none",
	"Job.LeaseFor":    "of the configuration; checked when it is stamped",
	"Job.Ceiling":     "of the configuration",
	"Job.RetryDelay":  "of the configuration; what it leads to is checked",
	"Job.LastErr":     "a text",
	"Job.Enqueued":    "for people",
	"Job.Finished":    "for people",
}

// A new field of a state has to be written, or listed here with a reason: in
// some state a change of it must change the form.
func TestTheFormHasEveryField(t *testing.T) {
	counts := map[string]bool{} // whether a change of the field was seen
	for _, o := range worlds {
		m := newMachine(o.Resolved())
		m.begin()
		state := m.save(nil)
		for i := range 400 {
			ways := next(m, state)
			state = ways[(i*i+3*i)%len(ways)]
			if i%8 == 0 {
				changeAll(m, state, counts)
			}
		}
	}
	for field, seen := range counts {
		switch listed := notWritten[field] != ""; {
		case !seen && !listed:
			t.Errorf("field %s is not part of the form: write it, or list it as one that decides nothing", field)
		case seen && listed:
			t.Errorf("field %s is listed as not written, and it is", field)
		}
	}
	for field := range notWritten {
		if _, known := counts[field]; !known {
			t.Errorf("field %s is listed, and there is none", field)
		}
	}
}

// changeAll changes every field of a state, one at a time, and notes whose
// change shows in the form.
func changeAll(m *machine, state []byte, seen map[string]bool) {
	m.load(bytes.Clone(state)) // a list that grows may grow into it
	var at []reflect.Value
	var names []string
	add := func(v any) {
		s := reflect.ValueOf(v).Elem()
		for i := range s.NumField() {
			if f := s.Field(i); f.Type().Kind() != reflect.Struct {
				at = append(at, reflect.NewAt(f.Type(), unsafe.Pointer(f.UnsafeAddr())).Elem())
				names = append(names, s.Type().Name()+"."+s.Type().Field(i).Name)
			}
		}
	}
	for i, p := range m.procs {
		if i > 1 {
			break
		}
		add(p)
		if p.alive {
			add(&p.book)
			for k := range p.book.lanes {
				add(&p.book.lanes[k])
			}
			for k := range p.book.holds {
				add(&p.book.holds[k])
			}
			for k := range p.runs {
				add(&p.runs[k])
			}
		}
		for k := range p.calls {
			add(&p.calls[k])
		}
	}
	for i := range m.opt.Jobs {
		add(&m.jobs[i])
		add(m.row(i))
	}
	for i, f := range at {
		seen[names[i]] = seen[names[i]] || shows(m, state, f)
	}
}

// shows changes f and reports whether the form changes, or has no place for it.
func shows(m *machine, state []byte, f reflect.Value) (changed bool) {
	old := reflect.New(f.Type()).Elem()
	old.Set(f)
	defer f.Set(old)
	defer func() {
		if recover() != nil {
			changed = true
		}
	}()
	switch v := f.Addr().Interface().(type) {
	case *[]uint8:
		if len(*v) == 0 {
			*v = []byte{1}
			break
		}
		(*v)[0] ^= 1 // in place: what is read from here must be as it was
		defer func() { (*v)[0] ^= 1 }()
	default:
		switch {
		case f.Kind() == reflect.Bool:
			f.SetBool(!f.Bool())
		case f.Kind() == reflect.Int:
			f.SetInt(f.Int() + 1)
		case f.CanInt():
			f.SetInt(f.Int() + int64(Tick)*2)
		case f.CanUint():
			f.SetUint(f.Uint() ^ 6)
		case f.Kind() == reflect.String:
			f.SetString(f.String() + "x")
		case f.Kind() == reflect.Slice:
			f.Set(reflect.Append(f, reflect.Zero(f.Type().Elem())))
		default:
			return false
		}
	}
	for _, p := range m.procs {
		p.dirty = true
	}
	return !bytes.Equal(m.save(nil), state)
}
