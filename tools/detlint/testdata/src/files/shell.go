// Package files is simulated in part.
package files

func shell(m map[int]int) {
	for range m { // want `range over a map`
	}
}
