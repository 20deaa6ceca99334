// Package shape has functions of every shape.
package shape

import (
	"cmp"
	"fmt"
	"strings"
)

// Box admits up to a limit.
type Box struct{ Limit int }

// Admit reports whether n is within the limit.
func (b *Box) Admit(n int) bool { return n < b.Limit }

// Total adds ns, which it does not name after the first parameter.
func Total(_ string, ns ...int) (sum int) {
	for _, n := range ns {
		sum += n // one by one
	}
	return
}

// Largest returns the largest of list, which must not be empty.
func Largest[S ~[]E, E cmp.Ordered](list S) E {
	best := list[0]
	for _, e := range list[1:] {
		if e > best {
			best = e
		}
	}
	return best
}

// Pair is a key with a value.
type Pair[K, V any] struct {
	Key   K
	Value V
}

func (p Pair[K, _]) String() string {
	return strings.ToUpper(fmt.Sprint(p.Key, "=",
		p.Value))
}

// Fields has the trouble a copy cannot bear.
func Fields(bool) (n int, err error) {
	defer func() { recover() }()
	twice := 1
	twice = 1
	return twice, nil
}

func guarded() { recover() }

func init() { guarded() }

func init() { _ = 2 }
