// Toy prints one line per function that the tests plant bugs in.
package main

import (
	"fmt"

	"toy/shape"
)

func main() {
	b := &shape.Box{Limit: 3}
	fmt.Println("admit", b.Admit(2), b.Admit(3))
	fmt.Println("total", shape.Total("x", 1, 2, 3))
	fmt.Println("largest", shape.Largest([]int{2, 9, 4}), shape.Largest([]string{"b", "a"}))
	var s fmt.Stringer = shape.Pair[string, int]{Key: "k", Value: 7}
	fmt.Println("pair", s)
	fmt.Println("sign", sign(-2), sign(0), sign(2))
	touch(b)
	fmt.Println("touched", b.Limit)
}

// sign returns -1, 0 or 1.
func sign(n int) (s int) {
	defer func() { s *= 1 }()
	switch {
	case n < 0:
		return -1
	case n > 0:
		return 1
	}
	return 0
}

func touch(b *shape.Box) { b.Limit++ }
