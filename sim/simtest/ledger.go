package simtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"backwave/sim"
	"backwave/store"
)

// ledgerPatience is how long a handler waits for the answer to a write.
const ledgerPatience = 10 * time.Second

// ErrFenced says that a later attempt of the job has written already.
var ErrFenced = errors.New("simtest: a later attempt has written: this one is fenced")

// Ledger is a fake of a system outside that keeps entries. Each way of writing
// promises what it does in the real world.
type Ledger struct {
	world   *World
	entries []Entry
	highest map[store.JobID]int // attempt that wrote under its token; looked up only
}

// Entry is one entry of a Ledger.
type Entry struct {
	Account string
	Amount  int64
	Token   store.Token   // of the attempt that wrote it
	Kind    string        // "plain", "fenced" or "transaction"
	At      time.Duration // true time since the start of the world
}

// Entries returns the entries of an account, oldest first.
func (l *Ledger) Entries(account string) []Entry {
	var out []Entry
	for _, e := range l.entries {
		if e.Account == account {
			out = append(out, e)
		}
	}
	return out
}

// Balance returns the sum of the entries of an account.
func (l *Ledger) Balance(account string) (sum int64) {
	for _, e := range l.Entries(account) {
		sum += e.Amount
	}
	return sum
}

// Write adds an entry. Nothing guards it: it is added as often as it is written.
// After an error the entry may be there, or may come later.
func (l *Ledger) Write(ctx context.Context, account string, amount int64) error {
	co := l.world.crew.caller("Ledger.Write")
	e := Entry{Account: account, Amount: amount, Token: co.attempt.Lease.Key.Token(), Kind: "plain"}
	return l.call(ctx, co, "Ledger.Write", fmt.Sprintf("write %s %+d", account, amount), func() (string, error) {
		l.add(e)
		return "written", nil
	})
}

// WriteFenced writes what a job has to write to an account, once: an attempt
// replaces the entry of an earlier attempt of its job, and is refused with
// ErrFenced when a later one has written.
func (l *Ledger) WriteFenced(ctx context.Context, token store.Token, account string, amount int64) error {
	co := l.world.crew.caller("Ledger.WriteFenced")
	e := Entry{Account: account, Amount: amount, Token: token, Kind: "fenced"}
	return l.call(ctx, co, "Ledger.WriteFenced", fmt.Sprintf("write %s %+d under token %d", account, amount, token.Attempt), func() (string, error) {
		if l.highest == nil {
			l.highest = map[store.JobID]int{}
		}
		if token.Attempt < l.highest[token.Job] {
			return "fenced", ErrFenced
		}
		l.highest[token.Job] = token.Attempt
		l.entries = slices.DeleteFunc(l.entries, func(o Entry) bool {
			return o.Kind == "fenced" && o.Token.Job == token.Job && o.Account == account
		})
		l.add(e)
		return "written", nil
	})
}

func (l *Ledger) add(e Entry) {
	e.At = l.world.Elapsed()
	l.entries = append(l.entries, e)
}

// call sends a write on its way.
func (l *Ledger) call(ctx context.Context, co *coroutine, name, text string, do func() (string, error)) error {
	co.mine(name)
	co.crew.note("%s calls the ledger: %s", co.name(), text)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	var refused error
	err := co.call(ctx, sim.NeedCall{To: "ledger", Text: text, Patience: ledgerPatience, Do: func() (_ time.Duration, answer string) {
		answer, refused = do()
		return 0, answer
	}})
	switch {
	case errors.Is(err, sim.ErrTold):
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("simtest: %s: %w", text, err)
	}
	return refused
}

// Tx is a transaction on the store's database, which holds entries as well.
type Tx struct {
	world   *World
	token   store.Token
	entries []Entry
}

// Write adds an entry to the Ledger, if the transaction is committed.
func (tx *Tx) Write(account string, amount int64) {
	tx.entries = append(tx.entries, Entry{Account: account, Amount: amount, Token: tx.token, Kind: "transaction"})
}

// InTx fakes the InTx of a store: what fn writes through tx and the success of
// job happen together or not at all. It returns what that returns: the error of
// fn, store.ErrLeaseLost if another worker may have the job by now, or the
// commit's error, after which nobody knows. The handler returns it. The commit
// is given up after a sixth of the lease, 10s at most, as the stores do.
func (w *World) InTx(ctx context.Context, job store.Attempt, fn func(tx *Tx) error) error {
	co := w.crew.caller("World.InTx")
	co.mine("World.InTx")
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	tx := &Tx{world: w, token: job.Key().Token()}
	if err := fn(tx); err != nil {
		return err
	}
	job.Completing()
	w.crew.note("%s commits %v", co.name(), tx.entries)
	err := co.call(context.Background(), sim.NeedCommit{Output: job.Output(), Patience: min(job.LeaseDuration()/6, 10*time.Second), Do: func() {
		for _, e := range tx.entries {
			w.ledger.add(e)
		}
	}})
	switch {
	case err == nil:
		job.Completed(store.CompletionCommitted)
		return nil
	case errors.Is(err, sim.ErrNoAnswer):
		job.Completed(store.CompletionUnknown)
		return fmt.Errorf("simtest: commit of %v: %w", tx.token, err)
	}
	job.Completed(store.CompletionRolledBack)
	return err
}
