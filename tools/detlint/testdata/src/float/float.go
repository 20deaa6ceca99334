// Package float adds products of floats.
package float

func sums[F float32 | float64, N ~int](x, y, z float64, c complex128, g F, n N, i int) {
	_ = x*y + z      // want `x\*y\+z on floats is fused`
	_ = z - (x * y)  // want `x\*y\+z on floats is fused`
	_ = -(x * y) + z // want `x\*y\+z on floats is fused`
	_ = x*y + z*x    // want `x\*y\+z on floats is fused` `x\*y\+z on floats is fused`
	_ = c*c + 1      // want `x\*y\+z on floats is fused`
	_ = g*g + g      // want `x\*y\+z on floats is fused`
	z += x * y       // want `x\*y\+z on floats is fused`
	z -= float64(x * y)
	_ = float64(x*y) + z
	_ = 2.0*3.0 + z
	_ = x*y - 0 // want `x\*y\+z on floats is fused`
	_ = (x + y) * z
	_ = i*i + i
	_ = n*n + n
	i += i * i
}
