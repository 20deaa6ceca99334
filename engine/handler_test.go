package engine_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"backwave/engine"
	"backwave/store"
)

type email struct{ To string }

func TestHowHandlersEnd(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range []struct {
		name    string
		handler func(context.Context, *engine.Job[email]) error
		payload any
		state   store.State
		end     store.EndKind
		text    string
		first   time.Duration // when it is due again
	}{
		{"returns", func(_ context.Context, j *engine.Job[email]) error {
			if j.Args.To != "a@b" || j.Attempt != 1 || j.Name != "job" || j.Queue != "default" || j.Lease != time.Minute {
				return fmt.Errorf("handed %+v", j)
			}
			return nil
		}, email{"a@b"}, store.Succeeded, store.EndSuccess, "", 0},
		{"fails", func(context.Context, *engine.Job[email]) error { return boom }, nil, store.Scheduled, store.EndFailure, "boom", 2 * time.Second},
		{"panics", func(context.Context, *engine.Job[email]) error { panic("ouch") }, nil, store.Scheduled, store.EndFailure, "panic: ouch\ngoroutine", 2 * time.Second},
		{"panics with nil", func(context.Context, *engine.Job[email]) error { panic(nil) }, nil, store.Scheduled, store.EndFailure, "panic: panic called with nil", 2 * time.Second},
		{"panics with an error that panics", func(context.Context, *engine.Job[email]) error { panic(rude{}) }, nil, store.Scheduled, store.EndFailure, "that panics when printed", 2 * time.Second},
		{"leaves its goroutine", func(context.Context, *engine.Job[email]) error { runtime.Goexit(); return nil }, nil, store.Scheduled, store.EndFailure, "Goexit", 2 * time.Second},
		{"discards", func(context.Context, *engine.Job[email]) error { return engine.Discard(boom) }, nil, store.DeadLettered, store.EndDiscard, "boom", 0},
		{"asks to be tried later", func(context.Context, *engine.Job[email]) error { return engine.RetryAfter(time.Hour, boom) }, nil, store.Scheduled, store.EndFailure, "boom", time.Hour},
		{"snoozes", func(context.Context, *engine.Job[email]) error { return engine.Snooze(time.Hour) }, nil, store.Scheduled, store.EndSnooze, "", time.Hour},
		{"cannot read its payload", func(context.Context, *engine.Job[email]) error { return nil }, []byte("{"), store.Quarantined, store.EndUndecodable, "payload", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(w *world) {
				engine.Handle(w.mux, "job", c.handler)
				id := w.enqueue("job", c.payload)
				e := w.start(w.store)
				time.Sleep(time.Second)
				j := w.wantEnds(id, c.state, c.end)
				if !strings.Contains(j.LastErr, c.text) {
					t.Errorf("the error is %q, want %q in it", j.LastErr, c.text)
				}
				if late := j.Due.Sub(j.Ends[0].At); c.first != 0 && (late < c.first*9/10 || late > c.first*11/10) {
					t.Errorf("due again after %v, want about %v", late, c.first)
				}
				w.stopClean(e)
			})
		})
	}
}

// rude is an error that cannot even be printed.
type rude struct{}

func (rude) Error() string { panic("no") }

func TestUnknownNamesArePutOff(t *testing.T) {
	inBubble(t, func(w *world) {
		id := w.enqueue("nobody-knows", nil)
		e := w.start(w.store)
		time.Sleep(time.Second)
		w.wantEnds(id, store.Scheduled, store.EndUnknownName)
		w.stopClean(e)
	})
}

func TestOutputAndProgress(t *testing.T) {
	inBubble(t, func(w *world) {
		release := make(chan struct{})
		engine.Handle(w.mux, "job", func(_ context.Context, j *engine.Job[json.RawMessage]) error {
			var over *store.BoundError
			if err := j.SetOutput(make([]byte, store.MaxOutput+1)); !errors.As(err, &over) {
				t.Errorf("an output over its bound gave %v", err)
			}
			if err := j.SetProgress(make([]byte, store.MaxProgress+1)); !errors.As(err, &over) {
				t.Errorf("a progress over its bound gave %v", err)
			}
			scratch := []byte("half way")
			for range 1000 { // a loop must not flood the pump
				if err := j.SetProgress(scratch); err != nil {
					return err
				}
			}
			copy(scratch, "XXXXXXXX")
			<-release
			if err := j.SetProgress([]byte("nearly")); err != nil {
				return err
			}
			<-release
			scratch = bytes.Clone(j.Args)
			defer clear(scratch)
			return j.SetOutput(scratch)
		})
		id := w.enqueue("job", json.RawMessage(`{"n":1}`))
		e := w.start(w.store)
		time.Sleep(21 * time.Second) // the first renewal, at 20 s, takes it along
		if got := w.job(id).Progress; string(got) != "half way" {
			t.Errorf("the progress is %q", got)
		}
		release <- struct{}{}
		time.Sleep(20 * time.Second) // and the second what came later
		if got := w.job(id).Progress; string(got) != "nearly" {
			t.Errorf("the progress is %q", got)
		}
		close(release)
		time.Sleep(time.Second)
		if got := w.wantEnds(id, store.Succeeded, store.EndSuccess).Output; !bytes.Equal(got, []byte(`{"n":1}`)) {
			t.Errorf("the output is %q", got)
		}
		w.stopClean(e)
	})
}

func TestMiddlewareWrapsEveryHandler(t *testing.T) {
	inBubble(t, func(w *world) {
		var order []string
		note := func(word string) engine.Middleware {
			return func(next engine.Handler) engine.Handler {
				return func(ctx context.Context, j *engine.RawJob) error {
					order = append(order, word)
					return next(ctx, j)
				}
			}
		}
		engine.Handle(w.mux, "job", func(context.Context, *engine.Job[[]byte]) error { order = append(order, "handler"); return nil })
		w.mux.Use(note("outer"), note("inner"))
		w.enqueue("job", nil)
		e := w.start(w.store)
		time.Sleep(time.Second)
		w.stopClean(e)
		if got := fmt.Sprint(order); got != "[outer inner handler]" {
			t.Errorf("the order was %s", got)
		}
	})
}

func TestAnUnreadablePayloadMayBeWrapped(t *testing.T) {
	inBubble(t, func(w *world) {
		engine.Handle(w.mux, "job", func(context.Context, *engine.Job[email]) error { return nil })
		w.mux.Use(func(next engine.Handler) engine.Handler {
			return func(ctx context.Context, j *engine.RawJob) error {
				if err := next(ctx, j); err != nil {
					return fmt.Errorf("wrapped: %w", err)
				}
				return nil
			}
		})
		id := w.enqueue("job", []byte("{"))
		e := w.start(w.store)
		time.Sleep(time.Second)
		w.wantEnds(id, store.Quarantined, store.EndUndecodable)
		w.stopClean(e)
	})
}

// A handler's context has the values of Run's, and ends with the handler.
func TestTheContextOfAHandler(t *testing.T) {
	inBubble(t, func(w *world) {
		w.mux = &engine.Mux{} // the zero value will do
		var kept context.Context
		engine.Handle(w.mux, "job", func(ctx context.Context, _ *engine.Job[email]) error {
			kept = ctx
			return ctx.Err()
		})
		w.enqueue("job", nil)
		e := w.start(w.store)
		time.Sleep(time.Second)
		w.stopClean(e)
		if kept.Value(inherited{}) != "yes" || kept.Err() == nil {
			t.Errorf("it has the value %v, and ended with %v", kept.Value(inherited{}), kept.Err())
		}
	})
}

// reversed is a codec of texts, back to front.
type reversed struct{}

func (reversed) Encode(v any) ([]byte, error) {
	s, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("a %T is no text", v)
	}
	b := []byte(s)
	slices.Reverse(b)
	return b, nil
}

func (reversed) Decode(payload []byte, v any) error {
	b := bytes.Clone(payload)
	slices.Reverse(b)
	*v.(*string) = string(b)
	return nil
}

func TestPayloadsMayHaveAnotherCodec(t *testing.T) {
	inBubble(t, func(w *world) {
		got := ""
		engine.Handle(w.mux, "job", func(_ context.Context, j *engine.Job[string]) error {
			got = string(j.Payload) + " " + j.Args
			return nil
		}, engine.WithCodec(reversed{}))
		if _, err := engine.NewClient(engine.ClientConfig{Store: w.store, Codec: reversed{}}).Enqueue(w.t.Context(), "job", "abc"); err != nil {
			t.Fatal(err)
		}
		e := w.start(w.store)
		time.Sleep(time.Second)
		w.stopClean(e)
		if got != "cba abc" {
			t.Errorf("the handler got %q", got)
		}
	})
}

func TestHandlerTimeoutIsAPlainFailure(t *testing.T) {
	inBubble(t, func(w *world) {
		engine.Handle(w.mux, "job", func(ctx context.Context, _ *engine.Job[email]) error {
			start := time.Now()
			<-ctx.Done()
			wantCause(ctx, t, engine.ErrHandlerTimeout)
			if d := time.Since(start); d != 5*time.Second {
				t.Errorf("timed out after %v", d)
			}
			return context.Cause(ctx)
		})
		id := w.enqueue("job", nil)
		e := w.start(w.store, engine.Group{Name: "main", Queues: engine.Strict("default"), Timeouts: map[string]time.Duration{"job": 5 * time.Second}})
		time.Sleep(6 * time.Second)
		if j := w.wantEnds(id, store.Scheduled, store.EndFailure); !strings.Contains(j.LastErr, "timed out") {
			t.Errorf("the error is %q", j.LastErr)
		}
		w.stopClean(e)
	})
}

func TestOperatorCancelReachesTheHandler(t *testing.T) {
	inBubble(t, func(w *world) {
		engine.Handle(w.mux, "job", func(ctx context.Context, _ *engine.Job[email]) error {
			<-ctx.Done()
			wantCause(ctx, t, engine.ErrCancelRequested)
			return context.Cause(ctx)
		})
		id := w.enqueue("job", nil)
		e := w.start(w.store)
		time.Sleep(5 * time.Second)
		if _, err := w.store.Do(w.t.Context(), &store.Do{Actor: "me", RequestID: "1", Command: store.Cancel{Job: id}}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(16 * time.Second) // the renewal at 20 s brings the news
		w.wantEnds(id, store.Cancelled, store.EndFailure)
		w.stopClean(e)
	})
}
