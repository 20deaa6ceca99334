package history

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"backwave/store"
)

func genKey(t *rapid.T) store.LeaseKey {
	return store.LeaseKey{Job: genID(t), Attempt: rapid.IntRange(1, 9).Draw(t, "attempt"), Claim: rapid.Uint64().Draw(t, "claim")}
}

func genID(t *rapid.T) store.JobID {
	return store.NewJobID(rapid.Int64Range(0, 1<<40).Draw(t, "ms"), rapid.Uint64().Draw(t, "hi"), rapid.Uint64().Draw(t, "lo"))
}

func genText(t *rapid.T) string { return rapid.StringN(0, 8, -1).Draw(t, "text") }

func genInstant(t *rapid.T) store.Instant { return store.Instant(rapid.Int64().Draw(t, "instant")) }

func genSpan(t *rapid.T) time.Duration { return time.Duration(rapid.Int64().Draw(t, "span")) }

func genBytes(t *rapid.T) []byte {
	if rapid.Bool().Draw(t, "nil") {
		return nil
	}
	return rapid.SliceOfN(rapid.Byte(), 0, 5).Draw(t, "bytes")
}

func several[T any](t *rapid.T, one func(*rapid.T) T) []T {
	var out []T
	for range rapid.IntRange(0, 3).Draw(t, "rows") {
		out = append(out, one(t))
	}
	return out
}

func genTerms(t *rapid.T) *store.Terms {
	if rapid.Bool().Draw(t, "no terms") {
		return nil
	}
	policy := func(t *rapid.T) store.Policy {
		return store.Policy{MaxAttempts: rapid.IntRange(0, 9).Draw(t, "max"), First: genSpan(t), Factor: 2, Cap: genSpan(t), Jitter: 3, NoJitter: rapid.Bool().Draw(t, "no jitter")}
	}
	return &store.Terms{Default: policy(t), ByName: several(t, func(t *rapid.T) store.NamedPolicy { return store.NamedPolicy{Name: genText(t), Policy: policy(t)} })}
}

func genOutcome(t *rapid.T) store.Outcome {
	return []store.Outcome{
		store.Success{Output: genBytes(t)},
		store.Failure{Error: genText(t), HasRetryAfter: true, RetryAfter: genSpan(t)},
		store.Failure{},
		store.Discard{Error: genText(t)},
		store.Snooze{Delay: genSpan(t)},
		store.Released{},
		store.UnknownName{},
		store.Undecodable{Error: genText(t)},
	}[rapid.IntRange(0, 7).Draw(t, "outcome")]
}

// genPair draws a request and a reply that fits it.
func genPair(t *rapid.T) (store.Request, store.Reply) {
	at := genInstant(t)
	switch rapid.IntRange(0, 5).Draw(t, "call") {
	case 0:
		return &store.Claim{Worker: genText(t), Number: 3, Queues: several(t, func(t *rapid.T) store.Quota { return store.Quota{Queue: genText(t), Most: 2} }), Max: 4, Lease: genSpan(t), Terms: genTerms(t)},
			&store.Claimed{At: at, HasNext: rapid.Bool().Draw(t, "next"), Next: genSpan(t), Leases: several(t, func(t *rapid.T) store.Lease {
				return store.Lease{Key: genKey(t), Name: genText(t), Queue: genText(t), Payload: genBytes(t), Damage: genText(t), Base: 1, ExpiresAt: genInstant(t)}
			})}
	case 1:
		return &store.Renew{Worker: genText(t), Lease: genSpan(t), Rows: several(t, func(t *rapid.T) store.RenewRow { return store.RenewRow{Key: genKey(t), Progress: genBytes(t)} })},
			&store.Renewed{At: at, Rows: several(t, func(t *rapid.T) store.RenewAnswer {
				return store.RenewAnswer{Status: store.RenewStatus(rapid.IntRange(1, 3).Draw(t, "status")), Cancel: rapid.Bool().Draw(t, "cancel"), ExpiresAt: genInstant(t)}
			})}
	case 2:
		return &store.Report{Worker: genText(t), Rows: several(t, func(t *rapid.T) store.ReportRow { return store.ReportRow{Key: genKey(t), Outcome: genOutcome(t)} })},
			&store.Reported{At: at, Rows: several(t, func(t *rapid.T) store.ReportAnswer {
				return store.ReportAnswer{Status: store.ReportStatus(rapid.IntRange(1, 5).Draw(t, "status")), Already: store.EndKind(rapid.IntRange(0, 10).Draw(t, "kind")), To: store.State(rapid.IntRange(0, 7).Draw(t, "to")), Reason: genText(t)}
			})}
	case 3:
		return &store.Sweep{Queues: several(t, genText), Any: rapid.Bool().Draw(t, "any"), Max: 2},
			&store.Swept{At: at, Disposed: several(t, func(t *rapid.T) store.Lapse {
				return store.Lapse{Key: genKey(t), Worker: genText(t), Queue: genText(t), ExpiredAt: genInstant(t), To: store.Scheduled}
			})}
	case 4:
		q := &store.Enqueue{Jobs: several(t, func(t *rapid.T) store.NewJob {
			return store.NewJob{ID: genID(t), Name: genText(t), Queue: genText(t), Payload: genBytes(t), HasAt: true, At: genInstant(t), Delay: genSpan(t), MaxAttempts: 2, UniqueKey: genText(t)}
		})}
		return q, &store.Enqueued{At: at, Rows: several(t, func(t *rapid.T) store.EnqueueAnswer {
			return store.EnqueueAnswer{Status: store.EnqueueStatus(rapid.IntRange(1, 5).Draw(t, "status")), Holder: []store.JobID{{}, genID(t)}[rapid.IntRange(0, 1).Draw(t, "held")]}
		})}
	}
	return &store.Do{Actor: genText(t), RequestID: genText(t), Command: []store.Command{store.Cancel{Job: genID(t), Force: true}, store.Requeue{Job: genID(t)}, store.Pause{Queue: genText(t)}, store.Resume{Queue: genText(t)}}[rapid.IntRange(0, 3).Draw(t, "command")]},
		&store.Done{At: at, Result: store.DoResult(rapid.IntRange(1, 5).Draw(t, "result")), Repeat: rapid.Bool().Draw(t, "repeat")}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := NewLog()
		l.KeepIdle = true
		for call := range uint64(rapid.IntRange(1, 6).Draw(t, "calls")) {
			q, p := genPair(t)
			l.Sent(genSpan(t).Nanoseconds(), call, genText(t), q)
			switch rapid.IntRange(0, 4).Draw(t, "fate") {
			case 0:
				l.Applied(1, call, p)
				l.Answered(2, call, p)
			case 1:
				l.Failed(3, call, &store.TransientError{Fault: store.FaultBusy, Err: errors.New(genText(t))})
			case 2:
				l.Lost(4, call)
			case 3:
				l.Doubled(5, call)
			case 4:
				l.Forgot(6, l.Seq())
			}
		}
		var file, again bytes.Buffer
		if err := Write(&file, l); err != nil {
			t.Fatal(err)
		}
		text := file.String()
		got, cut, err := Read(&file)
		if err != nil || cut != (Cut{}) {
			t.Fatalf("cut %v, error %v", cut, err)
		}
		for i, r := range l.Records() {
			if !reflect.DeepEqual(got.Records()[i], r) {
				t.Fatalf("got\n%#v %#v\nwant\n%#v %#v\n%s", got.Records()[i].Req, got.Records()[i].Reply, r.Req, r.Reply, text)
			}
		}
		if err := Write(&again, got); err != nil || again.String() != text {
			t.Fatalf("written again: %v\n%s\nwant\n%s", err, again.String(), text)
		}
	})
}

const header = `{"backwave_history":1}` + "\n"

func TestFormat(t *testing.T) {
	l := NewLog()
	id := store.NewJobID(1_700_000_000_000, 1, 2)
	l.Sent(5, 9, "n1", &store.Report{Worker: "n1", Rows: []store.ReportRow{{Key: store.LeaseKey{Job: id, Attempt: 1, Claim: 2}, Outcome: store.Failure{Error: "a<b"}}}})
	l.Answered(6, 9, &store.Reported{At: 7, Rows: []store.ReportAnswer{{Status: store.ReportApplied, To: store.Scheduled}}})
	const want = header +
		`{"seq":1,"at_ns":5,"call":9,"sent":{"client":"n1","report":{"worker":"n1","rows":[{"job":"018bcfe5-6800-7001-8000-000000000002","attempt":1,"claim":2,"failure":{"error":"a<b"}}]}}}` + "\n" +
		`{"seq":2,"at_ns":6,"call":9,"answered":{"reported":{"at_us":7,"rows":[{"status":"applied","to":"scheduled"}]}}}` + "\n"
	var b bytes.Buffer
	if err := Write(&b, l); err != nil || b.String() != want {
		t.Errorf("error %v, got\n%s\nwant\n%s", err, b.String(), want)
	}
}

// A Writer as a sink writes what a Log that keeps idle calls holds.
func TestWriterAsSink(t *testing.T) {
	l := NewLog()
	l.KeepIdle = true
	var b, want bytes.Buffer
	w := NewWriter(&b)
	for _, s := range []Sink{l, w} {
		s.Sent(1, 1, "n1", poll)
		s.Answered(2, 1, claimedAt(100, 0))
		s.Sent(3, 2, "n1", poll)
		s.Answered(4, 2, claimedAt(90, 0))
		s.Sent(5, 3, "n1", poll)
		s.Failed(6, 3, errors.New("no"))
	}
	if err := errors.Join(w.Flush(), Write(&want, l)); err != nil || b.String() != want.String() {
		t.Errorf("error %v, got\n%s\nwant\n%s", err, b.String(), want.String())
	}
}

func TestReadErrors(t *testing.T) {
	const sent = `{"seq":1,"at_ns":0,"call":1,"sent":{"client":"c","sweep":{"queues":[],"max":1}}}` + "\n"
	const swept = `"answered":{"swept":{"at_us":1,"disposed":[]}}}` + "\n"
	for _, c := range []struct {
		name, text, want string
		line             int
	}{
		{"no header", sent, "the header", 1},
		{"another version", `{"backwave_history":2}` + "\n", "the header", 1},
		{"no JSON", header + "what\n", "a record", 2},
		{"a misspelt field", header + `{"seq":1,"at_ns":0,"cal":1}` + "\n", "a record", 2},
		{"two kinds", header + `{"seq":1,"at_ns":0,"call":1,"lost":{},"doubled":{}}` + "\n", "a record of one kind", 2},
		{"no kind of request", header + `{"seq":1,"at_ns":0,"call":1,"sent":{"client":"c"}}` + "\n", "a record of one kind", 2},
		{"seq goes back", header + sent + sent, "a seq above 1", 3},
		{"a call id used twice", header + sent + strings.Replace(sent, `"seq":1`, `"seq":2`, 1), "a call id that was not sent", 3},
		{"an answer to nothing", header + `{"seq":1,"at_ns":0,"call":1,` + swept, "sent before", 2},
		{"two answers", header + sent + `{"seq":2,"at_ns":0,"call":1,` + swept + `{"seq":3,"at_ns":0,"call":1,` + swept, "one answer per call", 4},
		{"a reply to another kind", header + sent + `{"seq":2,"at_ns":0,"call":1,"answered":{"done":{"at_us":1,"result":"changed"}}}` + "\n", "fits its request", 3},
		{"it forgets the future", header + `{"seq":1,"at_ns":0,"forgot":{"to":1}}` + "\n", "to is before it", 2},
		{"a whole last line of another kind", header + `{"lines":1}`, "a record", 2},
	} {
		_, cut, err := Read(strings.NewReader(c.text))
		var e *LineError
		if !errors.As(err, &e) || e.Line != c.line || !strings.Contains(e.Want, c.want) || cut.Line != 0 {
			t.Errorf("%s: got %v (cut %v), want line %d, %q", c.name, err, cut, c.line, c.want)
		}
	}
	if _, _, err := Read(strings.NewReader("\n")); !errors.Is(err, ErrEmpty) {
		t.Errorf("an empty file: %v", err)
	}
}

func TestReadCut(t *testing.T) {
	l, cut, err := Read(strings.NewReader(header + `{"seq":4,"at_ns":1,"stepped":{"high_us":3}}` + "\n" + `{"seq":5,"at_ns"`))
	if err != nil || cut.Line != 3 || cut.Text != `{"seq":5,"at_ns"` || len(l.Records()) != 1 || l.Seq() != 4 {
		t.Errorf("log %v, cut %v, error %v", l.Records(), cut, err)
	}
}

// Whatever the reader takes it can write, and read again to the same.
func FuzzRead(f *testing.F) {
	f.Add(header)
	f.Add(header + `{"seq":1,"at_ns":0,"call":1,"sent":{"client":"c","claim":{"worker":"w","number":1,"queues":[{"queue":"q","most":1}],"max":1,"lease_ns":5,"terms":{"default":{}}}}}` + "\n" + `{"seq":2,"at_ns":0,"call":1,"answered":{"claimed":{"at_us":1,"leases":null}}}`)
	f.Add(header + `{"seq":1,"at_ns":0,"call":1,"sent":{"client":"c","do":{"actor":"a","request_id":"r","pause":{"queue":"q"}}}}` + "\n" + `{"seq":2,"at_ns":0,"call":1,"failed":{"fault":"timeout","error":""}}` + "\n{")
	f.Fuzz(func(t *testing.T, text string) {
		l, _, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := Write(&b, l); err != nil {
			t.Fatal(err)
		}
		again, cut, err := Read(&b)
		if err != nil || cut.Line != 0 || !reflect.DeepEqual(l.Records(), again.Records()) {
			t.Fatalf("error %v, cut %v\n%+v\n%+v", err, cut, l.Records(), again.Records())
		}
	})
}

// A flushed Writer keeps nothing back, the header included, and says at the end
// what went wrong first.
func TestFlushed(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b).Flushed()
	if b.String() != header {
		t.Errorf("before any record there is %q", b.String())
	}
	for call := range uint64(3) {
		w.Sent(1, call, "n1", poll)
		l, cut, err := Read(bytes.NewReader(b.Bytes()))
		if err != nil || cut != (Cut{}) || len(l.Records()) != int(call)+1 {
			t.Fatalf("after %d records %v, %v and %q", call+1, cut, err, b.String())
		}
	}
	full := NewWriter(fullDisk{}).Flushed()
	full.Sent(1, 1, "n1", poll)
	if err := full.Flush(); !errors.Is(err, errFull) {
		t.Errorf("got %v", err)
	}
}

var errFull = errors.New("the disk is full")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }
