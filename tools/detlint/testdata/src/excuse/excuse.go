// Package excuse excuses itself, well and badly.
package excuse

import "sync" //det:ok the lock is for use outside the simulation

func use(m map[int]int, mu *sync.Mutex) (n int) {
	for _, v := range m { //det:ok a sum does not depend on the order
		n += v
	}
	for range m { //det:ok // want `excuse without a reason` `range over a map`
	}
	for range m { //det:okay because // want `malformed excuse` `range over a map`
	}
	for range m { // det:ok a space too many // want `malformed excuse` `range over a map`
	}
	n++ //det:ok nothing is wrong here // want `excuse for nothing`
	//det:ok on a line of its own // want `excuse for nothing`
	for range m { // want `range over a map`
	}
	go use(m, <-make(chan *sync.Mutex)) //det:ok one excuse is enough for a line
	return n
}
