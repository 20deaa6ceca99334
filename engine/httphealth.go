package engine

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// HealthHandler answers GET and HEAD with the health that read returns: 200
// while no group is wholly halted, else 503. The body is the line that
// Health.String prints, or, if the request says format=json or accepts
// application/json, Health as JSON. It reads memory only, so it may be asked
// often.
func HealthHandler(read func() Health) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "want GET or HEAD", http.StatusMethodNotAllowed)
			return
		}
		h := read()
		body, kind := h.String(), "text/plain; charset=utf-8"
		if r.FormValue("format") == "json" || strings.Contains(r.Header.Get("Accept"), "application/json") {
			b, err := json.Marshal(h)
			if err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			body, kind = string(b), "application/json"
		}
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Cache-Control", "no-store")
		if !h.Healthy() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, body) // whom could we tell
		}
	})
}

// MarshalJSON implements json.Marshaler. Groups without anything to say are
// left out.
func (h Health) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Healthy         bool                 `json:"healthy"`
		Halted          map[string]HaltState `json:"halted"`
		PartiallyHalted map[string]HaltState `json:"partially_halted"`
		Degraded        map[string]string    `json:"degraded"`
	}{h.Healthy(), h.HaltedGroups(), h.PartiallyHaltedGroups(), h.DegradedGroups()})
}
