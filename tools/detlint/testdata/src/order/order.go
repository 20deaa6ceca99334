// Package order lets map order and unstable sorts decide.
package order

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"sort"
)

type set map[string]int

type row struct{ key, n int }

func byKey(a, b row) int { return cmp.Compare(a.key, b.key) }

func ranges[M ~map[int]row](m map[int]row, s set, g M, list []int, text string) {
	for range m { // want `range over a map`
	}
	for k := range s { // want `range over a map`
		_ = k
	}
	for _, v := range g { // want `range over a map`
		_ = v
	}
	for range list {
	}
	for range text {
	}
	for range 3 {
	}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		_ = m[k]
	}
}

func iterators(m map[int]row, s set, k map[row]int) {
	for v := range maps.Values(m) { // want `maps\.Values: map order`
		_ = v
	}
	_ = slices.Collect(maps.Keys(m)) // want `maps\.Keys: map order`
	_ = maps.All(m)                  // want `maps\.All: map order`
	_ = slices.Sorted(maps.Keys(s))
	_ = slices.Sorted(maps.Values(s))
	_ = slices.SortedFunc(maps.Keys(k), byKey)
	_ = slices.SortedStableFunc(maps.Keys(k), byKey)
	_ = slices.SortedStableFunc(maps.Values(m), byKey) // want `maps\.Values: map order`
	_ = slices.SortedFunc(maps.Values(m), byKey)       // want `slices\.SortedFunc: unstable` `maps\.Values: map order`
	f := maps.Keys[set]                                // want `maps\.Keys: map order`
	_ = slices.Sorted(f(s))
	maps.DeleteFunc(m, func(int, row) bool { return false }) // want `maps\.DeleteFunc: calls its function in map order`
	_ = maps.Clone(m)
	clear(m)
	delete(m, 1)
}

func sorts(rows []row, keys []int, i sort.Interface) {
	sort.Slice(rows, func(a, b int) bool { return rows[a].key < rows[b].key }) // want `sort\.Slice: unstable`
	sort.Sort(i)                                                               // want `sort\.Sort: unstable`
	slices.SortFunc(rows, byKey)                                               // want `slices\.SortFunc: unstable`
	slices.SortedFunc(slices.Values(rows), byKey)                              // want `slices\.SortedFunc: unstable`
	slices.SortStableFunc(rows, byKey)
	slices.Sort(keys)
	sort.Stable(i)
	sort.Ints(keys)
}

func mirror(v reflect.Value) {
	_ = v.MapKeys()  // want `\(reflect\.Value\)\.MapKeys: may be map order`
	_ = v.MapRange() // want `\(reflect\.Value\)\.MapRange: may be map order`
}
