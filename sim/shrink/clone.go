package shrink

import (
	"reflect"

	"backwave/sim"
)

// clone returns a copy of sc that shares nothing with it that an edit could
// change.
func clone(sc *sim.Scenario) *sim.Scenario {
	out := copied(reflect.ValueOf(sc).Elem()).Interface().(sim.Scenario)
	return &out
}

// copied returns a deep copy of v. Functions, and what stands behind
// interfaces other than sim.Fault, are not data and stay what they are.
func copied(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch k := v.Kind(); {
	case k == reflect.Struct:
		for i := range v.NumField() {
			if f := out.Field(i); f.CanSet() {
				f.Set(copied(v.Field(i)))
			}
		}
	case k == reflect.Slice && !v.IsNil():
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(copied(v.Index(i)))
		}
	case k == reflect.Pointer && !v.IsNil():
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(copied(v.Elem()))
	case v.Type() == faultType && !v.IsNil():
		out.Set(copied(v.Elem()))
	}
	return out
}

var faultType = reflect.TypeFor[sim.Fault]()

// withCode gives sc what no file can hold: the parts of from that are code.
func withCode(sc, from *sim.Scenario) *sim.Scenario {
	to, v := reflect.ValueOf(sc).Elem(), reflect.ValueOf(from).Elem()
	for i := range v.NumField() {
		if k := v.Field(i).Kind(); k == reflect.Func || k == reflect.Interface {
			to.Field(i).Set(v.Field(i))
		}
	}
	return sc
}
