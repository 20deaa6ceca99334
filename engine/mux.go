package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"backwave/store"
)

// Handler runs one attempt of a job. A nil error is a success; Discard,
// RetryAfter and Snooze shape what follows from an error.
type Handler func(ctx context.Context, job *RawJob) error

// Middleware wraps something around a handler: logging, tracing, a
// transaction. An error that it passes on should be wrapped, not replaced, or
// a Discard, a Snooze or an unreadable payload inside is no longer seen.
type Middleware func(Handler) Handler

// Mux knows which handler runs the jobs of which name. Fill it before it is
// given to New, which keeps a copy; it is not for concurrent use. The zero
// value is an empty Mux.
type Mux struct {
	handlers map[string]Handler
	wrap     []Middleware
	mistakes []error
}

// NewMux returns an empty Mux.
func NewMux() *Mux { return &Mux{} }

// HandleOption changes how Handle treats the jobs of a name.
type HandleOption func(*handling)

type handling struct{ codec Codec }

// WithCodec makes the handler's payloads be decoded by c; default JSON.
func WithCodec(c Codec) HandleOption { return func(h *handling) { h.codec = c } }

// Handle makes fn the handler of the jobs of a name. Their payload is decoded
// into T in the handler's goroutine: as JSON, unless T is []byte or
// json.RawMessage, which get it as it is. A payload that cannot be decoded
// quarantines its job. A name that is empty, too long (store.MaxName bytes) or
// handled already, or an fn that is nil, is reported by New.
func Handle[T any](m *Mux, name string, fn func(ctx context.Context, job *Job[T]) error, opts ...HandleOption) {
	h := handling{codec: JSON{}}
	for _, o := range opts {
		o(&h)
	}
	if fn == nil {
		m.HandleRaw(name, nil)
		return
	}
	m.HandleRaw(name, func(ctx context.Context, raw *RawJob) error {
		job := &Job[T]{RawJob: raw}
		if err := decode(h.codec, raw.Payload, &job.Args); err != nil {
			return &undecodableError{err}
		}
		return fn(ctx, job)
	})
}

// HandleRaw makes h the handler of the jobs of a name, payloads undecoded. For
// mistakes see Handle.
func (m *Mux) HandleRaw(name string, h Handler) {
	if name == "" || len(name) > store.MaxName {
		m.mistakes = append(m.mistakes, fmt.Errorf("handler %q: the name has %d bytes, want 1 to %d", name, len(name), store.MaxName))
		return
	}
	if _, ok := m.handlers[name]; ok {
		m.mistakes = append(m.mistakes, fmt.Errorf("handler %q: the name has a handler already", name))
		return
	}
	if h == nil {
		m.mistakes = append(m.mistakes, fmt.Errorf("handler %q: it is nil, want a function", name))
		return
	}
	if m.handlers == nil {
		m.handlers = map[string]Handler{}
	}
	m.handlers[name] = h
}

// Use wraps w around every handler, those registered before included. The
// first w is the outermost.
func (m *Mux) Use(w ...Middleware) { m.wrap = append(m.wrap, w...) }

// Names returns the names that have a handler, sorted.
func (m *Mux) Names() []string { return slices.Sorted(maps.Keys(m.handlers)) }

// resolved returns a copy in which every handler wears its middleware.
func (m *Mux) resolved() (*Mux, error) {
	if len(m.mistakes) > 0 {
		return nil, errors.Join(m.mistakes...)
	}
	out := &Mux{handlers: make(map[string]Handler, len(m.handlers))}
	for name, h := range m.handlers {
		for _, w := range slices.Backward(m.wrap) {
			h = w(h)
		}
		out.handlers[name] = h
	}
	return out, nil
}
