//go:build unix

package nemesis

import (
	"hash/fnv"
	"time"
)

// chance is a number that depends on its arguments alone: on the seed, on what
// is drawn, and on the how manieth. So no draw moves another.
func chance(seed uint64, what string, n int) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(what)) // it never fails
	return mix(mix(seed^h.Sum64()) + uint64(n))
}

// mix is the finalizer of the splitmix64 generator.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// between returns a length from lo up to, but not including, hi.
func between(x uint64, lo, hi time.Duration) time.Duration {
	return lo + time.Duration(x%uint64(hi-lo))
}
