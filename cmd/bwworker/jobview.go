package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"backwave/store"
)

// jobView is a job as jobs ls prints it.
type jobView struct {
	ID              store.JobID `json:"id"`
	Name            string      `json:"name"`
	Queue           string      `json:"queue"`
	State           store.State `json:"state"`
	Attempt         int         `json:"attempt"`
	Due             string      `json:"due,omitempty"` // while it waits
	Enqueued        string      `json:"enqueued"`
	Finished        string      `json:"finished,omitempty"`
	UniqueKey       string      `json:"unique,omitempty"`
	MaxAttempts     int         `json:"max_attempts,omitempty"`
	CancelRequested bool        `json:"cancel_requested,omitempty"`
	Worker          string      `json:"worker,omitempty"` // while it runs
	LeaseUntil      string      `json:"lease_until,omitempty"`
	LastError       string      `json:"last_error,omitempty"`
	Damage          string      `json:"damage,omitempty"`
}

// jobDetails is a job as jobs show prints it.
type jobDetails struct {
	jobView
	Payload  any       `json:"payload,omitempty"`
	Output   any       `json:"output,omitempty"`
	Progress any       `json:"progress,omitempty"`
	Attempts []endView `json:"attempts"` // that have ended, oldest first
	Dropped  int       `json:"attempts_dropped,omitempty"`
}

type endView struct {
	Attempt int           `json:"attempt"`
	Kind    store.EndKind `json:"kind"`
	To      store.State   `json:"to"`
	At      string        `json:"at"`
	Worker  string        `json:"worker"`
	Error   string        `json:"error,omitempty"`
}

func viewJob(j *store.Job) jobView {
	v := jobView{
		ID: j.ID, Name: j.Name, Queue: j.Queue, State: j.State, Attempt: j.Attempt, Enqueued: j.Enqueued.String(),
		UniqueKey: j.UniqueKey, MaxAttempts: j.MaxAttempts, CancelRequested: j.CancelRequested, LastError: j.LastErr, Damage: j.Damage,
	}
	switch {
	case j.State.Terminal():
		v.Finished = j.Finished.String()
	case j.State == store.Executing:
		v.Worker, v.LeaseUntil = j.Worker, j.LeaseUntil.String()
	default:
		v.Due = j.Due.String()
	}
	return v
}

func viewDetails(j *store.Job) jobDetails {
	d := jobDetails{jobView: viewJob(j), Payload: viewBytes(j.Payload), Output: viewBytes(j.Output), Progress: viewBytes(j.Progress), Attempts: []endView{}, Dropped: j.EndsCut}
	for _, e := range j.Ends {
		d.Attempts = append(d.Attempts, endView{e.Attempt, e.Kind, e.To, e.At.String(), e.Worker, e.Error})
	}
	return d
}

// viewBytes shows JSON as it is, text as text, and other bytes as
// {"base64": …}.
func viewBytes(b []byte) any {
	switch {
	case len(b) == 0:
		return nil
	case json.Valid(b):
		return json.RawMessage(b)
	case utf8.Valid(b):
		return string(b)
	}
	return map[string][]byte{"base64": b}
}

// write prints the details for a person.
func (d jobDetails) write(to io.Writer) error {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-10s %s\n", name, printable(value))
		}
	}
	line("id", d.ID.String())
	line("name", d.Name)
	line("queue", d.Queue)
	state := fmt.Sprintf("%v, attempt %d", d.State, d.Attempt)
	if d.CancelRequested {
		state += ", asked to be cancelled"
	}
	line("state", state)
	line("enqueued", d.Enqueued)
	line("due", d.Due)
	line("worker", d.Worker)
	line("lease", d.LeaseUntil)
	line("finished", d.Finished)
	line("unique", d.UniqueKey)
	if d.MaxAttempts > 0 {
		line("at most", fmt.Sprintf("%d attempts", d.MaxAttempts))
	}
	for _, f := range []struct {
		name  string
		value any
	}{{"payload", d.Payload}, {"output", d.Output}, {"progress", d.Progress}} {
		if f.value != nil {
			text, err := json.Marshal(f.value)
			if err != nil {
				return err
			}
			line(f.name, string(text))
		}
	}
	line("damage", d.Damage)
	if d.Dropped > 0 {
		line("attempts", fmt.Sprintf("the first %d are not kept", d.Dropped))
	}
	for _, e := range d.Attempts {
		text := fmt.Sprintf("%v at %s, then %v", e.Kind, e.At, e.To)
		if e.Error != "" {
			text += ": " + e.Error
		}
		line(fmt.Sprintf("attempt %d", e.Attempt), text)
	}
	_, err := io.WriteString(to, b.String())
	return err
}

// seconds shows an instant in a table.
func seconds(i store.Instant) string { return i.Time().Format(time.RFC3339) }
