package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"backwave/clockx"
	"backwave/store"
)

// ClientConfig describes a Client. A zero field means the default at the end
// of its comment.
type ClientConfig struct {
	Store store.Enqueuer // required
	Queue string         // of jobs without the option Queue; default "default"
	Codec Codec          // of payloads; default JSON

	Clock  clockx.Clock // default clockx.Wall{}
	Random io.Reader    // of job ids; default the operating system's
}

// Client adds jobs. It needs no Engine, and may be used concurrently.
type Client struct {
	cfg    ClientConfig
	chance *chance
}

const (
	callTimeout  = 10 * time.Second // of one send
	firstBackoff = 10 * time.Millisecond
	lastBackoff  = time.Second
	enqueueBatch = 1000 // jobs of one send
)

// NewClient returns a Client.
func NewClient(cfg ClientConfig) *Client {
	if cfg.Queue == "" {
		cfg.Queue = "default"
	}
	if cfg.Codec == nil {
		cfg.Codec = JSON{}
	}
	if cfg.Clock == nil {
		cfg.Clock = clockx.Wall{}
	}
	return &Client{cfg: cfg, chance: newChance(cfg.Random)}
}

// Enqueue adds one job. While the store does not answer, meets a fault that
// passes, or is busy with the row, the same call is sent again until ctx ends:
// give ctx a deadline. Then the error wraps the cause of ctx's end, and whether
// the job was added is not known; repeating Enqueue with the same option ID
// is safe.
//
// A job that exists with the same id, name, queue and payload counts as added;
// if anything of that differs the error is ErrDiffers. What is over a bound is
// refused with a *store.BoundError, and nothing is added.
func (c *Client) Enqueue(ctx context.Context, name string, args any, opts ...EnqueueOption) (Receipt, error) {
	out, err := c.EnqueueMany(ctx, []NewJob{{Name: name, Args: args, Options: opts}})
	if err != nil {
		return Receipt{}, err
	}
	return out[0], nil
}

// EnqueueMany adds jobs, each as Enqueue would, in batches and not all at
// once or none: the error speaks of every job that was not, or perhaps not,
// added, and the receipt of such a job has a zero ID. A job that cannot be
// encoded or is over a bound keeps all from being added.
func (c *Client) EnqueueMany(ctx context.Context, jobs []NewJob) ([]Receipt, error) {
	if c.cfg.Store == nil {
		return nil, errors.New("engine: enqueue: field Store of the ClientConfig is nil")
	}
	rows, err := c.rows(jobs)
	if err != nil {
		return nil, err
	}
	out := make([]Receipt, len(rows))
	for start := 0; start < len(rows); start += enqueueBatch {
		end := min(start+enqueueBatch, len(rows))
		err = errors.Join(err, c.send(ctx, rows[start:end], out[start:end]))
	}
	return out, err
}

// rows encodes jobs and gives them ids: once, however often they are sent.
func (c *Client) rows(jobs []NewJob) ([]store.NewJob, error) {
	rows := make([]store.NewJob, len(jobs))
	var errs error
	for i, j := range jobs {
		payload, err := encode(c.cfg.Codec, j.Args)
		if err != nil {
			errs = errors.Join(errs, fmt.Errorf("engine: enqueue %q: payload: %w", j.Name, err))
			continue
		}
		r := &rows[i]
		*r = store.NewJob{Name: j.Name, Queue: c.cfg.Queue, Payload: payload}
		for _, o := range j.Options {
			o(r)
		}
		if r.ID.IsZero() {
			if r.ID, err = c.chance.jobID(c.cfg.Clock.Now()); err != nil {
				return nil, err
			}
		}
		if err := store.Validate(&store.Enqueue{Jobs: rows[i : i+1]}); err != nil {
			errs = errors.Join(errs, fmt.Errorf("engine: enqueue %q as %v: %w", r.Name, r.ID, err))
		}
	}
	return rows, errs
}

// send sends rows until each is answered, and writes their receipts to out.
func (c *Client) send(ctx context.Context, rows []store.NewJob, out []Receipt) (errs error) {
	open := make([]int, len(rows)) // indices of the rows without an answer
	for i := range open {
		open[i] = i
	}
	for pause := firstBackoff; ; pause = min(2*pause, lastBackoff) {
		batch := make([]store.NewJob, len(open))
		for k, i := range open {
			batch[k] = rows[i]
		}
		answer, err := c.try(ctx, batch)
		if err == nil {
			busy := open[:0]
			for k, i := range open {
				switch a := answer.Rows[k]; a.Status {
				case store.EnqueueAdded, store.EnqueueDuplicate:
					out[i] = Receipt{ID: rows[i].ID}
				case store.EnqueueHeld:
					out[i] = Receipt{ID: a.Holder, Existing: true}
				case store.EnqueueDiffers:
					errs = errors.Join(errs, fmt.Errorf("engine: enqueue %q as %v: %w", rows[i].Name, rows[i].ID, ErrDiffers))
				case store.EnqueueBusy:
					busy = append(busy, i)
				}
			}
			if open = busy; len(open) == 0 {
				return errs
			}
			err = errBusy
		} else if !store.FaultOf(err).Transient() {
			return errors.Join(errs, c.unsent(rows, open, err))
		}
		if end := c.rest(ctx, pause); end != nil {
			return errors.Join(errs, c.unsent(rows, open, fmt.Errorf("%w; the last answer was: %w", end, err)))
		}
	}
}

// rest waits; a handler that adds jobs does so in its own time.
func (c *Client) rest(ctx context.Context, d time.Duration) error {
	if t, ok := ctx.Value(timeKey{}).(Time); ok {
		return t.Sleep(ctx, d)
	}
	return clockx.Sleep(ctx, c.cfg.Clock, d)
}

// try sends once.
func (c *Client) try(ctx context.Context, batch []store.NewJob) (*store.Enqueued, error) {
	ctx, cancel := clockx.WithTimeout(ctx, c.cfg.Clock, callTimeout, errExpired)
	defer cancel()
	answer, err := c.cfg.Store.Enqueue(ctx, &store.Enqueue{Jobs: batch})
	if err != nil {
		return nil, expired(ctx, err)
	}
	if answer == nil {
		return nil, errNothing
	}
	if len(answer.Rows) != len(batch) {
		return nil, fmt.Errorf("the store answered %d rows of %d", len(answer.Rows), len(batch))
	}
	return answer, nil
}

// unsent names the rows that got no answer.
func (c *Client) unsent(rows []store.NewJob, open []int, err error) error {
	first := rows[open[0]]
	if len(open) == 1 {
		return fmt.Errorf("engine: enqueue %q as %v: %w", first.Name, first.ID, err)
	}
	return fmt.Errorf("engine: enqueue %q as %v and %d more: %w", first.Name, first.ID, len(open)-1, err)
}
