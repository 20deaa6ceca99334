package files

import "sync"

func production(wg *sync.WaitGroup, m map[int]int) { go shell(m) }
