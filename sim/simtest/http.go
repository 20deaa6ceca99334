package simtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"backwave/engine"
	"backwave/sim"
)

// Serve makes h the server of all requests that HTTP sends to host. Its
// requests are served one at a time, each at one instant; engine.Now and
// engine.Sleep go by true time in it, and a sleep makes the answer take longer.
func (w *World) Serve(host string, h http.Handler) {
	if w.servers == nil {
		w.servers = map[string]http.Handler{}
	}
	w.servers[host] = h
}

// HTTP returns an HTTP client for handlers, which reaches what Serve serves.
// Requests and answers travel through the simulated network, and a timeline can
// lose or delay each, or have it refused with the status 503. A request without
// an answer ends after the Timeout of the Scenario, with an error whose Timeout
// method says true; the Timeout of the client itself is of real time and means
// nothing here.
func (w *World) HTTP() *http.Client { return &http.Client{Transport: (*transport)(w)} }

type transport World

// noAnswer is how a request ends that got no answer.
type noAnswer struct {
	host  string
	after time.Duration
}

// Error implements error.
func (e *noAnswer) Error() string {
	return fmt.Sprintf("simtest: no answer from %s within %v", e.host, e.after)
}

// Timeout says that it is one, as the errors of package net do.
func (e *noAnswer) Timeout() bool { return true }

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	w := (*World)(t)
	co := w.crew.caller("World.HTTP")
	co.mine("World.HTTP")
	var body []byte
	if req.Body != nil {
		var err error
		body, err = io.ReadAll(req.Body)
		_ = req.Body.Close()
		if err != nil {
			return nil, err
		}
	}
	server := w.servers[req.URL.Host]
	if server == nil {
		return nil, fmt.Errorf("simtest: nobody serves %s: call World.Serve(%[1]q, …)", req.URL.Host)
	}
	text := req.Method + " " + req.URL.RequestURI()
	w.crew.note("%s calls %s: %s%s", co.name(), req.URL.Host, text, closely(req.Header, body))
	if req.Context().Err() != nil {
		return nil, context.Cause(req.Context())
	}
	var answer *recorder
	err := co.call(req.Context(), sim.NeedCall{To: req.URL.Host, Text: text + excerpt(body), Patience: w.set.Timeout, Do: func() (time.Duration, string) {
		var late time.Duration
		answer, late = w.serve(server, req, body)
		return late, status(answer.status)
	}})
	switch {
	case errors.Is(err, sim.ErrRefused):
		return (&recorder{header: http.Header{}, status: http.StatusServiceUnavailable}).response(req), nil
	case errors.Is(err, sim.ErrNoAnswer):
		return nil, &noAnswer{req.URL.Host, w.set.Timeout}
	case err != nil:
		return nil, context.Cause(req.Context())
	}
	return answer.response(req), nil
}

// serve lets a server answer, and returns how long it took over it.
func (w *World) serve(server http.Handler, req *http.Request, body []byte) (*recorder, time.Duration) {
	clock := &serverTime{world: w}
	in := req.Clone(engine.WithTime(context.Background(), clock))
	in.Body = io.NopCloser(bytes.NewReader(body))
	in.RequestURI, in.Host = req.URL.RequestURI(), req.URL.Host
	out := &recorder{header: http.Header{}}
	server.ServeHTTP(out, in)
	out.WriteHeader(http.StatusOK)
	return out, clock.slept
}

// status writes a status as HTTP does.
func status(code int) string { return fmt.Sprintf("%d %s", code, http.StatusText(code)) }

// recorder is the http.ResponseWriter of a server.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// response is the answer to req.
func (r *recorder) response(req *http.Request) *http.Response {
	return &http.Response{
		Status: status(r.status), StatusCode: r.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: r.header, Body: io.NopCloser(&r.body), ContentLength: int64(r.body.Len()), Request: req,
	}
}

// Header implements http.ResponseWriter.
func (r *recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && status >= 200 {
		r.status = status
	}
}

// Write implements http.ResponseWriter.
func (r *recorder) Write(b []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.body.Write(b)
}

// serverTime is the time of a server.
type serverTime struct {
	world *World
	slept time.Duration
}

// Now implements engine.Time.
func (s *serverTime) Now() time.Time { return s.world.view.Now().Add(s.slept) }

// Sleep implements engine.Time.
func (s *serverTime) Sleep(_ context.Context, d time.Duration) error {
	s.slept += max(0, d)
	return nil
}

// excerpt is the beginning of a body, if that can be read.
func excerpt(body []byte) string {
	const most = 100
	s := strings.ToValidUTF8(string(body[:min(len(body), most)]), "")
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' }) {
		return ""
	}
	if len(body) > most {
		s += "…"
	}
	return " " + s
}

// closely says all that a request is about beside its line, so that two can be
// compared.
func closely(h http.Header, body []byte) (text string) {
	for _, k := range slices.Sorted(maps.Keys(h)) {
		text += ", " + k + ": " + strings.Join(h[k], ", ")
	}
	if len(body) > 0 {
		text += fmt.Sprintf(", %d bytes (%x)", len(body), fingerprint(body))
	}
	return text
}

func fingerprint(b []byte) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(b)
	return h.Sum64()
}
