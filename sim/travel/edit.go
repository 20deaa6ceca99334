package travel

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"backwave/sim"
	"backwave/sim/scenario"
)

// Edit is a change of one entry of a timeline.
type Edit struct {
	Entry int           // from 0
	Drop  bool          // it does not happen
	By    time.Duration // else it happens this much later; negative is earlier
}

// Apply returns sc with the edits made, whose entries are those of sc. It shares
// with sc what no edit changes. An edit that cannot be made is an error.
func Apply(sc *sim.Scenario, edits []Edit) (*sim.Scenario, error) {
	out := *sc
	out.Timeline = slices.Clone(sc.Timeline)
	dropped := map[int]bool{}
	for _, e := range edits {
		if e.Entry < 0 || e.Entry >= len(sc.Timeline) {
			return nil, fmt.Errorf("%s: the timeline has %d entries", Label(e.Entry), len(sc.Timeline))
		}
		if e.Drop {
			dropped[e.Entry] = true
			continue
		}
		f, err := later(out.Timeline[e.Entry], e.By, sc.For)
		if err != nil {
			return nil, fmt.Errorf("%s, %s: %w", Label(e.Entry), scenario.EntryText(sc.Timeline[e.Entry]), err)
		}
		out.Timeline[e.Entry] = f
	}
	for i := len(out.Timeline) - 1; i >= 0; i-- {
		if dropped[i] {
			out.Timeline = slices.Delete(out.Timeline, i, i+1)
		}
	}
	return &out, nil
}

// later returns f moved in time, within a world that lasts until end.
func later(f sim.Fault, by, end time.Duration) (sim.Fault, error) {
	v := reflect.New(reflect.TypeOf(f)).Elem()
	v.Set(reflect.ValueOf(f))
	at := v.FieldByName("At")
	if !at.IsValid() || at.Type() != reflect.TypeFor[time.Duration]() {
		return nil, fmt.Errorf("it hits a call by its number and has no time of its own to shift")
	}
	to := time.Duration(at.Int()) + by
	if to < 0 || to > end {
		return nil, fmt.Errorf("shifted by %v it would happen at %v, and the world lasts from 0s to %v", by, to, end)
	}
	at.SetInt(int64(to))
	return v.Interface().(sim.Fault), nil
}

// Words says what e does to sc.
func (e Edit) Words(sc *sim.Scenario) string {
	what := Label(e.Entry) + ", " + scenario.EntryText(sc.Timeline[e.Entry]) + ", "
	if e.Drop {
		return what + "did not happen"
	}
	if e.By < 0 {
		return what + fmt.Sprintf("happened %v earlier", -e.By)
	}
	return what + fmt.Sprintf("happened %v later", e.By)
}
