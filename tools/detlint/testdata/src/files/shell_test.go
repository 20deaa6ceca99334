package files

import (
	"testing"
	"time"
)

func TestShell(t *testing.T) { shell(map[int]int{int(time.Now().Unix()): 1}) }
