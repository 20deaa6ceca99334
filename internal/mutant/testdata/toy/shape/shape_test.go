package shape

import "testing"

func TestTotal(t *testing.T) {
	if sum := Total("three", 1, 2, 3); sum != 6 {
		t.Errorf("Total is %d, want 6", sum)
	}
}
