package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"backwave/engine"
	"backwave/store"
)

// jobsReader reads jobs from JSON lines and collects what is wrong with them.
type jobsReader struct {
	file     string
	queues   map[string]bool // that some group serves
	handlers map[string]bool // names
	defaultQ string
	any      bool                // names and queues need not be known
	ids      map[store.JobID]int // line by id
	errs     []error
}

// readJobs returns the jobs of a file, or an error that joins every mistake in
// it: nothing of a file with a mistake is to be enqueued.
//
// With a configuration its names and queues must be known there, for what could
// never run is a mistake; without one, nil, other processes may know them.
// queue is that of jobs that name none; "" is the first of the configuration.
func readJobs(file string, text []byte, c *config, queue string) ([]engine.NewJob, error) {
	r := &jobsReader{file: file, defaultQ: queue, any: c == nil, ids: map[store.JobID]int{}}
	if c != nil {
		r.know(c)
	}
	var jobs []engine.NewJob
	for i, line := range bytes.Split(withoutMark(text), []byte("\n")) {
		if len(bytes.TrimSpace(line)) > 0 {
			jobs = append(jobs, r.job(i+1, line))
		}
	}
	return jobs, errors.Join(r.errs...)
}

// withoutMark skips the byte order mark with which some editors begin a file.
func withoutMark(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\uFEFF")) }

// know learns the queues and names of a configuration.
func (r *jobsReader) know(c *config) {
	r.queues, r.handlers = map[string]bool{}, map[string]bool{}
	for _, g := range c.groups {
		for _, q := range g.Queues.Queues() {
			r.queues[q] = true
			if r.defaultQ == "" {
				r.defaultQ = q
			}
		}
	}
	for _, h := range c.handlers {
		r.handlers[h.name] = true
	}
}

func (r *jobsReader) bad(line int, field, format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("%s:%d: %s: %s", r.file, line, field, fmt.Sprintf(format, args...)))
}

// job reads one line.
func (r *jobsReader) job(line int, text []byte) engine.NewJob {
	fields := r.fields(line, text)
	if fields == nil {
		return engine.NewJob{}
	}
	before := len(r.errs)
	j := engine.NewJob{}
	row := store.NewJob{ID: store.JobID{15: 1}, Queue: r.defaultQ} // for the bounds
	option := func(o engine.EnqueueOption) {
		o(&row)
		j.Options = append(j.Options, o)
	}
	var in, at, id string
	r.value(line, fields, "name", "text", &row.Name)
	r.value(line, fields, "queue", "text", &row.Queue)
	r.value(line, fields, "unique", "text", &row.UniqueKey)
	r.value(line, fields, "max_attempts", "a whole number", &row.MaxAttempts)
	r.value(line, fields, "in", "a duration such as 5m, as text", &in)
	r.value(line, fields, "at", "a time such as 2030-01-31T08:00:00Z, as text", &at)
	r.value(line, fields, "id", "a UUID, as text", &id)
	if p, ok := fields["payload"]; ok {
		row.Payload = p
		j.Args = p
	}
	option(engine.Queue(row.Queue))
	option(engine.Unique(row.UniqueKey))
	option(engine.MaxAttempts(row.MaxAttempts))
	r.due(line, fields, in, at, option)
	if _, ok := fields["id"]; ok && id != "" {
		r.id(line, id, option)
	}
	j.Name = row.Name
	if len(r.errs) == before {
		r.judge(line, row)
	}
	return j
}

// fields takes a line apart. A plain map would let a second field of the same
// name win in silence.
func (r *jobsReader) fields(line int, text []byte) map[string]json.RawMessage {
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		r.bad(line, "line", "%s is not a JSON object", short(text))
		return nil
	}
	out := map[string]json.RawMessage{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			r.bad(line, "line", "%s is not JSON: %v", short(text), err)
			return nil
		}
		var v json.RawMessage
		if err := d.Decode(&v); err != nil {
			r.bad(line, fmt.Sprint(key), "is not JSON: %v", err)
			return nil
		}
		name := fmt.Sprint(key)
		switch name {
		case "name", "queue", "payload", "id", "unique", "in", "at", "max_attempts":
		default:
			r.bad(line, name, "no such field, want one of name, queue, payload, id, unique, in, at, max_attempts")
		}
		if _, ok := out[name]; ok {
			r.bad(line, name, "is there twice")
		}
		out[name] = v
	}
	if _, err := d.Token(); err != nil {
		r.bad(line, "line", "%s is not JSON: the object does not end", short(text))
		return nil
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		r.bad(line, "line", "something follows the object, want one object per line")
		return nil
	}
	return out
}

func (r *jobsReader) value(line int, fields map[string]json.RawMessage, name, want string, to any) {
	v, ok := fields[name]
	if !ok {
		return
	}
	if err := json.Unmarshal(v, to); err != nil || string(v) == "null" {
		r.bad(line, name, "%s is not %s", short(v), want)
	}
}

// due reads when the job is due.
func (r *jobsReader) due(line int, fields map[string]json.RawMessage, in, at string, option func(engine.EnqueueOption)) {
	if fields["in"] != nil && fields["at"] != nil {
		r.bad(line, "at", "is there beside in, want one of them")
		return
	}
	if in != "" {
		d, err := time.ParseDuration(in)
		if err != nil || d < 0 {
			r.bad(line, "in", "%q is not a duration such as 5m", in)
			return
		}
		option(engine.In(d))
	}
	if at != "" {
		t, err := time.Parse(time.RFC3339, at)
		if err != nil {
			r.bad(line, "at", "%q is not a time such as 2030-01-31T08:00:00Z", at)
			return
		}
		option(engine.At(t))
	}
}

func (r *jobsReader) id(line int, text string, option func(engine.EnqueueOption)) {
	id, err := store.ParseJobID(text)
	if err != nil || id.IsZero() {
		r.bad(line, "id", "%q is not a UUID such as 01890a5d-ac96-774b-bcce-b302099a8057", text)
		return
	}
	if first, ok := r.ids[id]; ok {
		r.bad(line, "id", "%v is that of line %d", id, first)
		return
	}
	r.ids[id] = line
	option(engine.ID(id))
}

// judge finds what no store takes, and what this worker could never run.
func (r *jobsReader) judge(line int, row store.NewJob) {
	if err := store.Validate(&store.Enqueue{Jobs: []store.NewJob{row}}); err != nil {
		text := strings.TrimPrefix(err.Error(), "store: ")
		field, rest, _ := strings.Cut(text, " of job 0 ")
		r.bad(line, strings.ReplaceAll(strings.TrimSuffix(field, " key"), " ", "_"), "%s", rest)
		return
	}
	if r.any {
		return
	}
	if !r.handlers[row.Name] {
		r.bad(line, "name", "%q has no handler", row.Name)
	}
	if !r.queues[row.Queue] {
		r.bad(line, "queue", "%q is served by no group", row.Queue)
	}
}

// short keeps messages readable.
func short(b []byte) string {
	b = bytes.TrimSpace(b)
	if len(b) > 60 {
		return strings.ToValidUTF8(string(b[:60]), "") + "…"
	}
	return string(b)
}
