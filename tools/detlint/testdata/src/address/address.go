// Package address prints addresses.
package address

import (
	"fmt"
	"io"
	"reflect"
	"time"
)

type plain struct {
	Name string
	N    [3]int
	M    map[string][]byte
	E    error
}

type holder struct{ Terms *plain }

type stamped struct{ At time.Time }

type hidden struct{ at time.Time }

type callback struct{ F func() }

type loud struct{ p *int }

func (loud) String() string { return "loud" }

type tree struct {
	N    int
	Kids []tree
}

const verb = "%" + "p"

func logf(format string, args ...any) { fmt.Printf(format, args...) }

func show(w io.Writer, p *int, s plain, h holder, c callback, x any) {
	fmt.Printf("%p\n", &s)            // want `%p prints an address`
	fmt.Println(fmt.Sprintf(verb, 1)) // want `%p prints an address`
	logf("%5p", p)                    // want `%p prints an address`
	logf("100%%pure")
	fmt.Println("%p")
	fmt.Println(p)                   // want `printing a \*int prints an address`
	fmt.Fprintf(w, "%v", h)          // want `printing a address\.holder prints an address: of its \*address\.plain`
	fmt.Fprintf(w, "%v", &h)         // want `printing a \*address\.holder prints an address`
	fmt.Fprint(w, []*plain{&s})      // want `prints an address: of its \*address\.plain`
	fmt.Fprint(w, map[string]*int{}) // want `prints an address: of its \*int`
	fmt.Fprint(w, c)                 // want `prints an address: of its func\(\)`
	fmt.Fprint(w, show)              // want `prints an address`
	fmt.Fprint(w, hidden{})          // want `prints an address: of its \*time\.Location`
	_ = fmt.Errorf("x: %v", p)       // want `prints an address`
	fmt.Fprint(w, s, &s, &s.N, &s.M, tree{}, stamped{}, loud{}, &loud{}, []loud{}, x)
	fmt.Fprintf(w, "%*d %T %v", 3, 4, p, s)
	fmt.Fprintf(w, "%T %v", s, p) // want `prints an address`
	fmt.Sscanf("1", "%d", p)
	fmt.Fprint(w, []any{p}...)
}

func mirror(v reflect.Value) uintptr {
	return v.Pointer() // want `\(reflect\.Value\)\.Pointer: addresses`
}
