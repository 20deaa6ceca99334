// Package payments charges orders at a bank, in three drafts: the first charges
// twice when an answer is lost, the second when a node stands still, the third
// never. Its tests show it; docs/testing-your-jobs.md tells the story.
package payments

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"backwave/engine"
)

// Order is the payload of the jobs called "charge".
type Order struct {
	ID    string
	Cents int64
}

// Bank is where orders are charged.
type Bank struct {
	Client *http.Client
	URL    string
}

// Charge is what the bank is asked to do.
type Charge struct {
	Order   string `json:"order"`
	Cents   int64  `json:"cents"`
	Job     string `json:"job,omitempty"`     // one job is charged once
	Attempt int    `json:"attempt,omitempty"` // and an older attempt is refused once a newer one was seen
}

// Careless charges whenever it is run.
func Careless(bank Bank) *engine.Mux {
	mux := engine.NewMux()
	engine.Handle(mux, "charge", func(ctx context.Context, job *engine.Job[Order]) error {
		return bank.charge(ctx, Charge{Order: job.Args.ID, Cents: job.Args.Cents})
	})
	return mux
}

// Checking asks the bank first whether the order is charged already.
func Checking(bank Bank) *engine.Mux {
	mux := engine.NewMux()
	engine.Handle(mux, "charge", func(ctx context.Context, job *engine.Job[Order]) error {
		charged, err := bank.charged(ctx, job.Args.ID)
		if err != nil || charged {
			return err
		}
		return bank.charge(ctx, Charge{Order: job.Args.ID, Cents: job.Args.Cents})
	})
	return mux
}

// Fenced hands the bank the token of its attempt.
func Fenced(bank Bank) *engine.Mux {
	mux := engine.NewMux()
	engine.Handle(mux, "charge", func(ctx context.Context, job *engine.Job[Order]) error {
		token := job.Token()
		return bank.charge(ctx, Charge{Order: job.Args.ID, Cents: job.Args.Cents, Job: token.Job.String(), Attempt: token.Attempt})
	})
	return mux
}

func (b Bank) charge(ctx context.Context, c Charge) error {
	body, err := json.Marshal(c)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, b.URL+"/charges", bytes.NewReader(body))
	if err != nil {
		return err
	}
	status, err := b.do(req)
	if err == nil && status != http.StatusCreated && status != http.StatusOK {
		err = fmt.Errorf("the bank answers %d", status)
	}
	return err
}

func (b Bank) charged(ctx context.Context, order string) (bool, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.URL+"/charges/"+order, nil)
	if err != nil {
		return false, err
	}
	switch status, err := b.do(req); {
	case err != nil:
		return false, err
	case status == http.StatusOK:
		return true, nil
	case status == http.StatusNotFound:
		return false, nil
	default:
		return false, fmt.Errorf("the bank answers %d", status)
	}
}

func (b Bank) do(req *http.Request) (status int, err error) {
	res, err := b.Client.Do(req)
	if err != nil {
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}
