package engine

import (
	"context"
	"log/slog"

	"backwave/engine/pump"
)

// LevelCritical is the level of the one entry that a pump logs when it halts.
const LevelCritical = slog.Level(12)

// Note implements Surroundings.
func (h *host) Note(a pump.Action) {
	mark := h.shell.Mark()
	h.mark.Store(&mark)
	switch a := a.(type) {
	case pump.Degraded:
		level := slog.LevelDebug // another kind of call in an episode that was logged
		if !h.degraded {
			level = slog.LevelWarn
		}
		h.degraded = true
		h.say(level, "degraded", "call", a.Kind.String(), "cause", a.Text)
	case pump.Recovered:
		if h.degraded && mark.Degraded() == "" {
			h.degraded = false
			h.say(slog.LevelInfo, "recovered", "call", a.Kind.String())
		}
	case pump.Halted:
		stack := a.Cause.Stack
		if stack == "" {
			stack = string(h.stack)
		}
		if h.limit != pump.Never { // nothing is left to finish
			h.limit = min(h.limit, h.now.Add(h.cfg.ShutdownTimeout))
		}
		h.say(LevelCritical, "halted", "cause", a.Cause.String(), "stack", stack)
	case pump.Stopped:
		h.say(slog.LevelDebug, "drained")
	case pump.Dropped:
		h.say(slog.LevelInfo, "outcome dropped, its lease is over", "job", a.Key.Token().String(), "outcome", a.Kind.String())
	case pump.Abandoned:
		h.say(slog.LevelWarn, "handler ignores that it was told to stop, its lease is left to lapse", "job", a.Key.Token().String())
	case pump.Call, pump.Start, pump.Cancel:
	}
}

// say logs, whatever the logger does: it must not take the pump down.
func (h *host) say(level slog.Level, msg string, attrs ...any) {
	defer func() { _ = recover() }()
	h.log.Log(context.Background(), level, msg, attrs...)
}
