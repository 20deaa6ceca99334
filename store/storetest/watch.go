package storetest

import "backwave/store"

// legal are the transitions of the table over rule S1.
var legal = map[[2]store.State]bool{
	{0, store.Scheduled}:                     true,
	{store.Scheduled, store.Executing}:       true,
	{store.Scheduled, store.Cancelled}:       true,
	{store.Executing, store.Succeeded}:       true,
	{store.Executing, store.Scheduled}:       true,
	{store.Executing, store.DeadLettered}:    true,
	{store.Executing, store.Cancelled}:       true,
	{store.Executing, store.Quarantined}:     true,
	{store.DeadLettered, store.Scheduled}:    true,
	{store.Quarantined, store.Scheduled}:     true,
	{store.Scheduled, store.Scheduled}:       true,
	{store.Executing, store.Executing}:       true,
	{store.Succeeded, store.Succeeded}:       true,
	{store.Cancelled, store.Cancelled}:       true,
	{store.DeadLettered, store.DeadLettered}: true,
	{store.Quarantined, store.Quarantined}:   true,
}

// watch looks at every job after every call of every case: only legal
// transitions, attempts without gap and never down, one end per attempt,
// claims equal to ends + 1 if executing, a dead row that does not move.
func (f *fixture) watch() {
	f.Helper()
	for i := range f.images {
		old, now := f.images[i], f.read(f.images[i].ID)
		f.images[i] = now
		if !legal[[2]store.State{old.State, now.State}] {
			f.Errorf("job %v went from %v to %v", now.ID, old.State, now.State)
		}
		if now.Attempt < old.Attempt || now.Attempt > old.Attempt+1 {
			f.Errorf("job %v went from attempt %d to %d", now.ID, old.Attempt, now.Attempt)
		}
		running := 0
		if now.State == store.Executing {
			running = 1
		}
		if now.Attempt != len(now.Ends)+now.EndsCut+running {
			f.Errorf("job %v has %d attempts, but %d ends, %d dropped, %d running", now.ID, now.Attempt, len(now.Ends), now.EndsCut, running)
		}
		for k, e := range now.Ends {
			if e.Attempt != now.EndsCut+k+1 {
				f.Errorf("end %d of job %v is of attempt %d", now.EndsCut+k+1, now.ID, e.Attempt)
			}
		}
	}
}

// decided checks that a reply carries the store's instant.
func (f *fixture) decided(r store.Reply) {
	f.Helper()
	f.want(r.DecidedAt(), f.clock.Now())
}
