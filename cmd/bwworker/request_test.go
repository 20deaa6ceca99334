package main

import (
	"context"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"backwave/engine"
	"backwave/store"
	"backwave/store/memory"
)

// asked runs one job by a request to a server and returns what was recorded.
func asked(t *testing.T, serve http.HandlerFunc, name, queue, options string) *store.Job {
	t.Helper()
	s := httptest.NewServer(serve)
	defer s.Close()
	return runOne(t, name, queue, "url: "+s.URL+"/jobs?x=1"+options)
}

// runOne runs one job by a handler and returns what was recorded after its
// first attempt.
func runOne(t *testing.T, name, queue, handler string) *store.Job {
	t.Helper()
	h := parseHandler(t, handler)
	st := memory.NewLocked(memory.New(wallClock{}))
	id := store.JobID{1}
	if _, err := st.Enqueue(t.Context(), &store.Enqueue{Jobs: []store.NewJob{{ID: id, Name: name, Queue: queue, Payload: []byte(`{"n":1}`)}}}); err != nil {
		t.Fatal(err)
	}
	claimed, err := st.Claim(t.Context(), &store.Claim{Worker: "w", Number: 1, Queues: []store.Quota{{Queue: queue}}, Max: 1, Lease: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	l := claimed.Leases[0]
	job := &engine.RawJob{ID: id, Name: name, Queue: queue, Attempt: 1, Payload: l.Payload}
	res := engine.Result{Err: newRequester(&h.request, func(string) {}).run(t.Context(), job)}
	res.Output = job.Output()
	if _, err := st.Report(t.Context(), &store.Report{Worker: "w", Rows: []store.ReportRow{{Key: l.Key, Outcome: res.Outcome()}}}); err != nil {
		t.Fatal(err)
	}
	j, err := st.Job(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// parseHandler reads the fields of one handler.
func parseHandler(t *testing.T, fields string) *handlerConfig {
	t.Helper()
	c, err := readConfig("w.yaml", []byte("groups: [{name: g, queues: [q]}]\nhandlers:\n  h:\n    "+strings.ReplaceAll(fields, "\n", "\n    ")+"\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	return &c.handlers[0]
}

func TestWhatARequestCarries(t *testing.T) {
	t.Setenv("BW_TEST_TOKEN", "Bearer abc")
	j := asked(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if r.Method != http.MethodPost || r.URL.String() != "/jobs?x=1" || string(body) != `{"n":1}` || err != nil {
			t.Errorf("%s %v %q %v", r.Method, r.URL, body, err)
		}
		for name, want := range map[string]string{
			"Content-Type": "application/vnd.mine", "X-Tenant": "a", "Authorization": "Bearer abc",
			"BW-Job-Id": "01000000-0000-0000-0000-000000000000", "BW-Job-Name": "send%0Amail", "BW-Queue": "it's %F0%9F%90%98 100%25", "BW-Attempt": "1",
			"Idempotency-Key": "01000000-0000-0000-0000-000000000000#1",
		} {
			if got := r.Header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, "made")
	}, "send\nmail", "it's 🐘 100%", "\nheaders: {X-Tenant: a, Content-Type: application/vnd.mine}\nauthorization: {env: BW_TEST_TOKEN}")
	if j.State != store.Succeeded || string(j.Output) != "made" {
		t.Errorf("the job is %+v", j)
	}
}

func TestWhatAnAnswerMeans(t *testing.T) {
	for _, c := range []struct {
		name    string
		status  int
		header  http.Header
		body    string
		options string
		state   store.State
		text    string
		after   time.Duration // -1: what the policy says
	}{
		{"no content", 204, nil, "", "", store.Succeeded, "", -1},
		{"redirect", 307, http.Header{"Location": {"/elsewhere"}}, "", "", store.Scheduled, "307 Temporary Redirect", -1},
		{"client error", 404, nil, " gone\x00\n", "", store.Scheduled, "404 Not Found: gone�", -1},
		{"final client error", 422, nil, "bad", "\nclient_errors: discard", store.DeadLettered, "422 Unprocessable Entity: bad", -1},
		{"timeout of the server", 408, nil, "", "\nclient_errors: discard", store.Scheduled, "408 Request Timeout", -1},
		{"server error", 500, nil, strings.Repeat("x", 1<<20), "\nclient_errors: discard", store.Scheduled, "500 Internal Server Error: xxx", -1},
		{"too many", 429, http.Header{"Retry-After": {"3600"}}, "", "\nclient_errors: discard", store.Scheduled, "429 Too Many Requests", time.Hour},
		{"unavailable until a date", 503, http.Header{"Retry-After": {"Wed, 21 Oct 2015 07:30:00 GMT"}, "Date": {"Wed, 21 Oct 2015 07:28:00 GMT"}}, "", "", store.Scheduled, "503", 2 * time.Minute},
		{"unavailable, past", 503, http.Header{"Retry-After": {"Wed, 21 Oct 2015 07:28:00 GMT"}}, "", "", store.Scheduled, "503", 0},
		{"unavailable for ever", 503, http.Header{"Retry-After": {"99999999999999999"}}, "", "", store.Scheduled, "503", store.MaxDuration},
		{"unavailable, nonsense", 503, http.Header{"Retry-After": {"-5"}}, "", "", store.Scheduled, "503", -1},
		{"long output", 200, nil, strings.Repeat("o", store.MaxOutput+5), "", store.Succeeded, "", -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			requests := 0
			j := asked(t, func(w http.ResponseWriter, _ *http.Request) {
				requests++
				for k, v := range c.header {
					w.Header()[k] = v
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			}, "h", "q", c.options)
			if j.State != c.state || !strings.HasPrefix(j.LastErr, c.text) || len(j.LastErr) > len(c.text)+answerTail || requests != 1 {
				t.Errorf("after %d requests the job is %v, %.100q", requests, j.State, j.LastErr)
			}
			if c.state == store.Succeeded && string(j.Output) != c.body[:min(len(c.body), store.MaxOutput)] {
				t.Errorf("the output has %d bytes", len(j.Output))
			}
			late := time.Duration(-1)
			if c.state == store.Scheduled {
				if late = j.Due.Sub(j.Ends[0].At); c.after < 0 && late > time.Second && late < 3*time.Second {
					late = -1
				}
			}
			if late != c.after {
				t.Errorf("it is due after %v, want %v", late, c.after)
			}
		})
	}
}

func TestARequestEndsWithItsContext(t *testing.T) {
	ended := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
		close(ended)
	}))
	defer s.Close()
	q := newRequester(&parseHandler(t, "url: "+s.URL).request, func(string) {})
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, engine.ErrHandlerTimeout)
	defer cancel()
	if err := q.run(ctx, &engine.RawJob{}); !errors.Is(err, engine.ErrHandlerTimeout) {
		t.Errorf("it ended with %v", err)
	}
	<-ended
}

// A body that never ends must not keep an attempt that was asked to stop, nor
// count as a success.
func TestABodyThatNeverEnds(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "some")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	}))
	defer s.Close()
	q := newRequester(&parseHandler(t, "url: "+s.URL).request, func(string) {})
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, engine.ErrDraining)
	defer cancel()
	if err := q.run(ctx, &engine.RawJob{}); !errors.Is(err, engine.ErrDraining) {
		t.Errorf("it ended with %v", err)
	}
}

func TestOwnCertificates(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "safe") }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	if j := runOne(t, "h", "q", "url: "+s.URL+"\nca_file: "+file); j.State != store.Succeeded || string(j.Output) != "safe" {
		t.Errorf("the job is %v: %s", j.State, j.LastErr)
	}
	if j := runOne(t, "h", "q", "url: "+s.URL); j.State != store.Scheduled || !strings.Contains(j.LastErr, "certificate") {
		t.Errorf("the job is %v: %s", j.State, j.LastErr)
	}
}

func TestASecretIsReadAgain(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("first\n")
	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got = append(got, r.Header.Get("Authorization")) }))
	defer s.Close()
	var hidden []string
	q := newRequester(&parseHandler(t, "url: "+s.URL+"\nauthorization: {file: "+file+"}").request, func(s string) { hidden = append(hidden, s) })
	for _, text := range []string{"first\n", "second\n"} {
		write(text)
		if err := q.run(t.Context(), &engine.RawJob{}); err != nil {
			t.Fatal(err)
		}
	}
	write("two\nlines\n")
	if err := q.run(t.Context(), &engine.RawJob{}); err == nil || strings.Contains(err.Error(), "lines") {
		t.Errorf("it ended with %v", err)
	}
	if strings.Join(got, ",") != "first,second" || strings.Join(hidden, ",") != "first,second" {
		t.Errorf("sent were %q, hidden %q", got, hidden)
	}
}

func TestRetryAfterWithoutADateOfTheAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // whose clock stands still
		now := time.Now()
		if d, ok := retryAfter(http.Header{"Retry-After": {now.Add(time.Minute).UTC().Format(http.TimeFormat)}}, now); d != time.Minute || !ok {
			t.Errorf("it is %v, %v", d, ok)
		}
	})
}

// The work is done when the status says so.
func TestATornBodyIsASuccess(t *testing.T) {
	j := asked(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "100")
		_, _ = io.WriteString(w, "torn")
	}, "h", "q", "")
	if j.State != store.Succeeded || string(j.Output) != "torn" {
		t.Errorf("the job is %v with output %q", j.State, j.Output)
	}
}
