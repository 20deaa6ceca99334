package sim

// Every random quantity of a world is a hash of the seed and of what it is
// about, never a draw from a stream: taking away one fault, one job or one call
// shifts no other.

// Streams keep quantities about the same thing apart.
const (
	streamID uint64 = iota + 1
	streamRequest
	streamReply
	streamHint
	streamClient
	streamStall
	streamJitter
	streamOutside
)

// mix is the finalizer of the splitmix64 generator.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// draw hashes what a quantity is about.
func draw(seed, stream, a, b, c uint64) uint64 {
	return mix(mix(mix(seed^stream<<56)^a) ^ b<<32 ^ c)
}

// text hashes a name.
func text(s string) uint64 {
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return mix(h)
}
