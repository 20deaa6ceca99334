package bubble

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"backwave/engine"
	"backwave/sim"
	"backwave/store"
)

// attempt is one start of a handler. It is guarded by world.mu.
type attempt struct {
	p        *process
	job      *job
	token    store.Token
	worker   string
	script   *sim.Script
	ctx      context.Context
	began    time.Time
	returned time.Time
	done     bool
	gone     bool          // its process has crashed
	meant    store.EndKind // what has to be recorded, if anything is
	apart    time.Time     // since when a transaction is about to record its success, and its lease is to be left alone
	told     error         // why it was to stop, if it was
}

var (
	errGone = errors.New("the process is gone")
	errBoom = errors.New("boom")
	causes  = []error{engine.ErrCancelRequested, engine.ErrDraining, engine.ErrLeaseLost, engine.ErrHalted, engine.ErrHandlerTimeout}
)

// spoil makes the payload unreadable where the script says that it is.
func (p *process) spoil(h engine.Handler) engine.Handler {
	return func(ctx context.Context, raw *engine.RawJob) error {
		if p.w.byID[raw.ID].script(raw.Attempt).End == "undecodable" {
			raw.Payload = []byte("{")
		}
		return h(ctx, raw)
	}
}

// handle plays the script of one attempt.
func (p *process) handle(ctx context.Context, raw *engine.RawJob) error {
	a := p.w.began(ctx, p, raw)
	if a == nil {
		return errGone
	}
	s := a.script
	stop := make(chan struct{})
	if s.Progress > 0 {
		go p.progress(raw, a.job.name, s.Progress, stop)
	}
	told := p.work(ctx, s)
	close(stop)
	p.n.stand()
	if p.dead() {
		return errGone
	}
	if !told && s.End == "crash" {
		after := s.After
		if after == 0 {
			after = 5 * time.Second
		}
		if p.w.crash(p.n, p, after) {
			p.w.reached("handler/crash")
			return errGone
		}
	}
	if !told && s.End == "" {
		p.transact(a, raw)
	}
	return p.w.finish(a, raw, told)
}

// progress reports progress again and again.
func (p *process) progress(raw *engine.RawJob, name string, every time.Duration, stop chan struct{}) {
	for i := 0; ; i++ {
		t := time.NewTimer(every)
		select {
		case <-t.C:
		case <-stop:
			t.Stop()
			return
		}
		p.n.stand()
		if p.dead() {
			return
		}
		if err := raw.SetProgress(fmt.Appendf(nil, "%s %d", name, i)); err != nil {
			p.w.breach("SetProgress: %v", err)
		}
	}
}

// work takes as long as s says, and reports whether it ended because it was
// told to. While the node stands still the work does as well.
func (p *process) work(ctx context.Context, s *sim.Script) (told bool) {
	deaf := s.OnCancel == "ignore"
	d, hang := s.For, s.End == "hang"
	for {
		stood := p.n.stoodStill()
		from := time.Now()
		var end <-chan time.Time
		if !hang {
			t := time.NewTimer(d)
			defer t.Stop()
			end = t.C
		}
		stop := ctx.Done()
		if deaf || told {
			stop = nil
		}
		obey := false
		select {
		case <-end:
		case <-stop:
			obey = true
		case <-p.died:
			return false
		case <-p.w.freed:
			return false
		}
		p.n.stand()
		again := p.n.stoodStill()
		left := d - (time.Since(from) - (again - stood))
		switch {
		case obey && !told:
			told = true
			in := s.StopIn
			if in == 0 {
				in = 10 * time.Millisecond
			}
			if !hang && left <= in {
				told, deaf = false, true // it ends before it can obey
				in = max(0, left)
			}
			d, hang = in, false
		case left <= 0:
			return told
		default:
			d = left
		}
	}
}

// began books the start of a handler, and judges it. It returns nil if the
// process has crashed.
func (w *world) began(ctx context.Context, p *process, raw *engine.RawJob) *attempt {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.dead() {
		return nil
	}
	j := w.byID[raw.ID]
	a := &attempt{p: p, job: j, token: raw.Token(), worker: raw.Worker(), script: j.script(raw.Attempt), ctx: ctx, began: time.Now()}
	if was := w.attempts[a.token]; was != nil {
		w.breachLocked("the handler of %s was started twice, by %s and by %s", w.token(a.token), was.worker, a.worker)
	}
	if p.over {
		w.breachLocked("the handler of %s was started after Run had returned", w.token(a.token))
	}
	if a.script.End == "undecodable" {
		w.breachLocked("the handler of %s was started with a payload that cannot be read", w.token(a.token))
	}
	beside := 1
	for _, b := range p.running {
		if b.worker == a.worker {
			beside++
		}
	}
	if pool := w.pool(a.worker); beside > pool {
		w.breachLocked("the handler of %s is one of %d of %s, whose pool has %d slots", w.token(a.token), beside, a.worker, pool)
	}
	w.alone(a)
	w.leased(a)
	w.punctual(a)
	w.attempts[a.token] = a
	j.attempts = append(j.attempts, a)
	p.running = append(p.running, a)
	return a
}

// alone judges that no handler goes on untold when the next attempt begins. The
// clocks must be even, and nobody have ended a lease by force.
func (w *world) alone(a *attempt) {
	if w.bent || a.job.forced {
		return
	}
	for _, b := range a.job.attempts {
		if b.done || b.gone || b.ctx.Err() != nil || b.p.n.slow() {
			continue
		}
		w.breachLocked("attempt %s begins, and the handler of %s was not told to stop", w.token(a.token), w.token(b.token))
	}
}

// leased judges that a handler starts under a lease that is in force.
func (w *world) leased(a *attempt) {
	row, ok := w.store.Lookup(a.token.Job)
	if w.bent || a.job.forced || !ok {
		return
	}
	if row.State != store.Executing || row.Attempt != a.token.Attempt || row.Worker != a.worker || row.LeaseUntil < (storeTime{w}).Now() {
		w.breachLocked("the handler of %s is started, and its lease is over", w.token(a.token))
	}
}

// punctual judges that a handler's timeout is told when its time is up, unless
// the node stands still meanwhile.
func (w *world) punctual(a *attempt) {
	stood := a.p.n.stoodStill()
	context.AfterFunc(a.ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if !errors.Is(context.Cause(a.ctx), engine.ErrHandlerTimeout) || a.p.n.slow() || a.p.n.stoodStill() != stood {
			return
		}
		after, took := w.timeout(a), time.Since(a.began)
		if d := after/1000 + time.Millisecond; took < after-d || took > after+d {
			w.breachLocked("the handler of %s was told after %v that its %v are over", w.token(a.token), took, after)
		}
		w.hit("timeout")
	})
}

// timeout returns how long the handler of a may run.
func (w *world) timeout(a *attempt) time.Duration {
	for _, g := range w.served(a.p.n) {
		for _, t := range g.Config.Timeouts {
			if g.Name == w.pumpOf[a.worker].group && t.Name == a.job.routed {
				return t.After
			}
		}
	}
	return 0
}

// slow reports whether the node stands still, or has just begun to go on.
func (n *node) slow() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.stops > 0 || n.went.Equal(time.Now())
}

func (w *world) pool(worker string) int {
	at := w.pumpOf[worker]
	for i := range w.sc.Groups {
		if g := &w.sc.Groups[i]; g.Name == at.group {
			return g.Config.Resolved().PoolSize
		}
	}
	return 0
}

// finish ends a handler as its script says.
func (w *world) finish(a *attempt, raw *engine.RawJob, told bool) error {
	s, end := a.script, a.script.End
	var err error
	if s.Output > 0 && (end == "" || end == "ok" || told && s.OnCancel == "ok") {
		err = raw.SetOutput(make([]byte, s.Output))
	}
	w.mu.Lock()
	a.done, a.returned, a.told = true, time.Now(), context.Cause(a.ctx)
	a.p.running = slices.DeleteFunc(a.p.running, func(b *attempt) bool { return b == a })
	if a.told != nil && !slices.Contains(causes, a.told) {
		w.breachLocked("the context of %s ended with %v", w.token(a.token), a.told)
	}
	a.meant = store.EndFailure
	switch {
	case err != nil:
	case told && s.OnCancel == "ok", !told && (end == "" || end == "ok"):
		a.meant = store.EndSuccess
	case told:
		err = a.told
	default:
		err = errBoom
	}
	if !told {
		w.hit("handler/" + end)
		switch end {
		case "discard":
			a.meant, err = store.EndDiscard, engine.Discard(errBoom)
		case "snooze":
			a.meant, err = store.EndSnooze, engine.Snooze(s.After)
		case "retry-after":
			err = engine.RetryAfter(s.After, errBoom)
		}
	} else {
		w.hit("told/" + a.told.Error())
	}
	w.mu.Unlock()
	if !told {
		switch end {
		case "panic":
			panic("boom")
		case "goexit":
			runtime.Goexit()
		}
	}
	return err
}

// reached is hit for whoever does not hold w.mu.
func (w *world) reached(kind string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.hit(kind)
}
