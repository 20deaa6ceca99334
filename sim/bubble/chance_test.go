package bubble

import "time"

// A random quantity is a hash of the seed and of what it is about, as in
// package sim.
func (w *world) chance(about ...uint64) uint64 {
	x := w.seed
	for _, a := range about {
		x ^= a
		x += 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
	}
	return x
}

// text hashes a name.
func text(s string) uint64 {
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

// way draws how long one message takes.
func (w *world) way(about ...uint64) time.Duration {
	latency := w.sc.Net.Latency
	if latency == 0 {
		latency = time.Millisecond
	}
	jitter := w.sc.Net.Jitter
	if jitter == 0 {
		jitter = latency
	}
	x := w.chance(about...)
	d := latency + time.Duration(x%uint64(jitter+1))
	if t := uint64(max(0, w.sc.Net.Tail)); t > 0 && (x>>32)%t == 0 {
		d *= 20
	}
	return d
}
