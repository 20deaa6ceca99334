package main

import (
	"testing"
	"testing/synctest"
)

// Producers stop at the bound, go on when something is finished, and end.
func TestFlowBoundsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlow()
		took := 0
		ended := make(chan bool)
		go func() {
			for f.take() {
				took += part
			}
			ended <- true
		}()
		synctest.Wait()
		if took != backlog {
			t.Errorf("took %d before anything was finished, want %d", took, backlog)
		}
		f.change(func() { f.finished += part - 1 })
		synctest.Wait()
		if took != backlog {
			t.Errorf("took %d with room for less than a part, want %d", took, backlog)
		}
		f.change(func() { f.finished++ })
		synctest.Wait()
		if took != backlog+part {
			t.Errorf("took %d after a part was finished, want %d", took, backlog+part)
		}
		f.change(func() { f.over = true })
		<-ended
	})
}
