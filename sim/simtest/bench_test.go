package simtest

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"backwave/engine"
	"backwave/sim"
)

// BenchmarkTimeline plays one job that makes two calls, in a world of two nodes,
// once.
func BenchmarkTimeline(b *testing.B) {
	s, err := Scenario{
		Jobs: []Job{{Name: "charge"}},
		Setup: func(w *World) func() *engine.Mux {
			w.Serve("bank", http.NotFoundHandler())
			return func() *engine.Mux {
				mux := engine.NewMux()
				engine.Handle(mux, "charge", func(ctx context.Context, j *engine.Job[string]) error {
					if err := engine.Sleep(ctx, time.Second); err != nil {
						return err
					}
					req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://bank/charges", strings.NewReader(j.Args))
					if err != nil {
						return err
					}
					res, err := w.HTTP().Do(req)
					if err != nil {
						return err
					}
					return res.Body.Close()
				})
				return mux
			}
		},
	}.resolve("bench")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if f := s.play(nil, sim.Options{}).failure(); f != nil {
			b.Fatal(f)
		}
	}
}
