package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"backwave/engine"
	"backwave/store"
)

// requester runs the jobs of one name by requests to an address.
type requester struct {
	cfg    *requestConfig
	client *http.Client
	hide   func(secret string)
}

// answerTail is how much of an answer's body a failure keeps.
const answerTail = 4 << 10

func newRequester(cfg *requestConfig, hide func(string)) *requester {
	t := http.DefaultTransport.(*http.Transport).Clone()
	if cfg.roots != nil {
		t.TLSClientConfig = &tls.Config{RootCAs: cfg.roots, MinVersion: tls.VersionTLS12}
	}
	t.MaxIdleConnsPerHost = 100 // a pool's worth of handlers talk to one host
	return &requester{cfg, &http.Client{
		Transport: t,
		// A redirected POST would become a GET, or be sent twice.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, hide}
}

// run is the handler: it posts the payload and returns nil if the answer is a
// 2xx.
func (q *requester) run(ctx context.Context, job *engine.RawJob) error {
	req, err := q.request(ctx, job)
	if err != nil {
		return err
	}
	resp, err := q.client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode/100 != 2 {
		return q.refused(resp)
	}
	body, _ := io.ReadAll(io.LimitReader(resp.Body, store.MaxOutput)) // the work is done: a torn body does not undo it
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %s", context.Cause(ctx), resp.Status)
	}
	return job.SetOutput(body)
}

func (q *requester) request(ctx context.Context, job *engine.RawJob) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, q.cfg.url.String(), bytes.NewReader(job.Payload))
	if err != nil {
		return nil, err
	}
	h := req.Header
	h.Set("Content-Type", "application/json")
	h.Set("User-Agent", "bwworker")
	for name, values := range q.cfg.header {
		if name == "Host" {
			req.Host = values[0]
		}
		h[name] = values
	}
	h.Set("BW-Job-Id", job.ID.String())
	h.Set("BW-Job-Name", headerText(job.Name))
	h.Set("BW-Queue", headerText(job.Queue))
	h.Set("BW-Attempt", strconv.Itoa(job.Attempt))
	// With this key set, Go also sends a request again when the server closed a
	// kept connection before it answered.
	h.Set("Idempotency-Key", job.Token().String())
	secret, err := q.cfg.authorization.read()
	if err != nil {
		return nil, fmt.Errorf("authorization: %w", err)
	}
	if secret != "" {
		if strings.ContainsFunc(secret, isControl) {
			return nil, errors.New("authorization: what is read holds a control character")
		}
		q.hide(secret)
		h.Set("Authorization", secret)
	}
	return req, nil
}

// refused turns an answer that is no success into an error, and into what
// follows from it.
func (q *requester) refused(resp *http.Response) error {
	body, _ := io.ReadAll(io.LimitReader(resp.Body, answerTail)) // what can be had of it
	err := errors.New(resp.Status)
	if text := strings.TrimSpace(strings.ToValidUTF8(string(body), "\uFFFD")); text != "" {
		err = fmt.Errorf("%s: %s", resp.Status, text)
	}
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if after, ok := retryAfter(resp.Header, time.Now()); ok {
			return engine.RetryAfter(after, err)
		}
		return err
	case http.StatusRequestTimeout, http.StatusTooEarly: // say nothing of the request itself
		return err
	}
	if q.cfg.discard && resp.StatusCode/100 == 4 {
		return engine.Discard(err)
	}
	return err
}

// retryAfter reads the header Retry-After, a number of seconds or a date. A
// date is compared with that of the answer, if it has one, because the clocks
// of two hosts may differ.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	text := h.Get("Retry-After")
	if s, err := strconv.ParseUint(text, 10, 64); err == nil {
		return time.Duration(min(s, uint64(store.MaxDuration/time.Second))) * time.Second, true
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	if sent, err := http.ParseTime(h.Get("Date")); err == nil {
		now = sent
	}
	return store.ClampDuration(at.Sub(now)), true
}

// headerText spells text as a URL does where a header could not hold it.
func headerText(s string) string {
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '%' {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}
