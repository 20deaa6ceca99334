package sqlite

import (
	"context"
	"fmt"

	"backwave/store"
	"backwave/store/rules"
)

// Do implements store.Operator.
func (s *Store) Do(ctx context.Context, r *store.Do) (*store.Done, error) {
	if err := store.Validate(r); err != nil {
		return nil, err
	}
	out := &store.Done{}
	err := s.write(ctx, "do", false, func(c *call) error {
		out.At = c.now
		return c.do(r, out)
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

func (c *call) do(r *store.Do, out *store.Done) error {
	result, found, err := c.number(`SELECT result FROM backwave_request WHERE id = ?1`, r.RequestID)
	if err != nil {
		return err
	}
	if found {
		out.Result, out.Repeat = store.DoResult(result), true
		return nil
	}
	a := audit{at: c.now, actor: r.Actor, request: r.RequestID}
	switch cmd := r.Command.(type) {
	case store.Cancel:
		a.command, a.job = "cancel", cmd.Job[:]
		if cmd.Force {
			a.command = "force"
		}
		out.Result, err = c.cancel(cmd)
	case store.Requeue:
		a.command, a.job = "requeue", cmd.Job[:]
		out.Result, err = c.requeue(cmd)
	case store.Pause:
		a.command, a.queue = "pause", cmd.Queue
		out.Result, err = c.pause(`INSERT INTO backwave_paused (queue) VALUES (?1) ON CONFLICT DO NOTHING`, cmd.Queue)
	case store.Resume:
		a.command, a.queue = "resume", cmd.Queue
		out.Result, err = c.pause(`DELETE FROM backwave_paused WHERE queue = ?1`, cmd.Queue)
		c.woken = append(c.woken, cmd.Queue)
	}
	if err != nil {
		return err
	}
	if _, err := c.exec(`INSERT INTO backwave_request (id, result) VALUES (?1, ?2)`, r.RequestID, int64(out.Result)); err != nil {
		return err
	}
	if out.Result != store.DoChanged {
		return nil
	}
	return c.audit(&a)
}

func (c *call) cancel(cmd store.Cancel) (store.DoResult, error) {
	j, err := c.job(cmd.Job)
	if err != nil || j == nil {
		return store.DoNotFound, err
	}
	result := rules.Cancel(j, cmd, c.now)
	if result != store.DoChanged {
		return result, nil
	}
	return result, c.settle(j)
}

func (c *call) requeue(cmd store.Requeue) (store.DoResult, error) {
	j, err := c.job(cmd.Job)
	if err != nil || j == nil {
		return store.DoNotFound, err
	}
	if !rules.MayRequeue(j) {
		return store.DoRefused, nil
	}
	if j.UniqueKey != "" {
		holder, err := c.holder(j.UniqueKey)
		if err != nil || !holder.IsZero() {
			return store.DoRefused, err
		}
	}
	rules.Requeue(j, c.now)
	return store.DoChanged, c.settle(j)
}

func (c *call) pause(statement, queue string) (store.DoResult, error) {
	done, err := c.exec(statement, queue)
	if err != nil {
		return 0, err
	}
	n, err := done.RowsAffected()
	if n == 0 {
		return store.DoUnchanged, err
	}
	return store.DoChanged, err
}

// audit is a row of backwave_audit.
type audit struct {
	at                      store.Instant
	actor, request, command string
	job                     []byte
	queue                   string
}

func (c *call) audit(a *audit) error {
	_, err := c.exec(`INSERT INTO backwave_audit (at, actor, request, command, job, queue) VALUES (?1, ?2, ?3, ?4, ?5, ?6)`,
		int64(a.at), a.actor, a.request, a.command, orNull(a.job), a.queue)
	return err
}

// entry turns the row into what readers know.
func (a *audit) entry() (store.Audit, error) {
	out := store.Audit{At: a.at, Actor: a.actor, RequestID: a.request}
	var job store.JobID
	copy(job[:], a.job)
	switch a.command {
	case "cancel":
		out.Command = store.Cancel{Job: job}
	case "force":
		out.Command = store.Cancel{Job: job, Force: true}
	case "requeue":
		out.Command = store.Requeue{Job: job}
	case "pause":
		out.Command = store.Pause{Queue: a.queue}
	case "resume":
		out.Command = store.Resume{Queue: a.queue}
	default:
		return out, fmt.Errorf("audit of request %q: unknown command %q", a.request, a.command)
	}
	return out, nil
}
