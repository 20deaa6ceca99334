// Package random imports what depends on chance or on the process.
package random

import (
	_ "crypto/rand" // want `import of crypto/rand: random`
	_ "hash/fnv"
	_ "hash/maphash" // want `import of hash/maphash: seeded per process`
	_ "math/bits"
	_ "math/rand"    // want `import of math/rand: random`
	r "math/rand/v2" // want `import of math/rand/v2: random`
	_ "unique"       // want `import of unique: addresses`
	_ "unsafe"       // want `import of unsafe: addresses`
	_ "weak"         // want `import of weak: depends on the garbage collector`
)

var _ = r.IntN
