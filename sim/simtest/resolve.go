package simtest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"backwave/engine"
	"backwave/engine/pump"
	"backwave/sim"
	"backwave/sim/scenario"
	"backwave/store"
)

const (
	defaultLease    = 10 * time.Second
	defaultTimeout  = 30 * time.Second
	defaultPatience = 10 * time.Second
	maxNodes        = 20
)

// setting is a Scenario made ready to be run.
type setting struct {
	Scenario
	sim      sim.Scenario
	payloads map[string][]byte
	lease    time.Duration // of the first group
	queue    string        // its first
	seen     scouted
}

// resolve checks sc and fills in what is left out. name is the test's.
func (sc Scenario) resolve(name string) (*setting, error) {
	s := &setting{Scenario: sc, payloads: map[string][]byte{}}
	s.Timeout, s.Patience = cmp.Or(sc.Timeout, defaultTimeout), cmp.Or(sc.Patience, defaultPatience)
	var errs []error
	if sc.Setup == nil {
		errs = append(errs, errors.New("field Setup is nil, want a function that returns the handlers"))
	}
	if sc.World != nil {
		errs = append(errs, s.given()...)
	} else {
		errs = append(errs, s.made()...)
	}
	s.sim.Name = cmp.Or(name, "simtest")
	s.sim.Level, s.sim.Early = sim.Adversarial, true // safety only: how long handlers take is not known
	s.sim.Timeline = slices.Concat(s.sim.Timeline, sc.Faults)
	for _, f := range s.sim.Timeline {
		if _, ok := f.(sim.Forget); ok {
			errs = append(errs, errors.New("field Faults has a sim.Forget: the fakes cannot undo their effects"))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if err := s.sound(); err != nil {
		return nil, err
	}
	g := &s.sim.Groups[0]
	s.lease, s.queue = g.Config.Resolved().LeaseDuration, g.Config.Queues[0].Name
	return s, nil
}

// made sets the world that the fields of the scenario describe.
func (s *setting) made() (errs []error) {
	nodes := cmp.Or(s.Nodes, 2)
	if nodes < 0 || nodes > maxNodes {
		errs = append(errs, fmt.Errorf("field Nodes is %d, want 1 to %d", nodes, maxNodes))
		nodes = 1
	}
	for i := range nodes {
		s.sim.Nodes = append(s.sim.Nodes, sim.Node{Name: fmt.Sprintf("n%d", i+1), Start: time.Duration(i) * time.Millisecond})
	}
	lease, err := s.group()
	s.sim.For, s.sim.Net = cmp.Or(s.For, 20*lease), s.Net
	return append(append(errs, err), s.jobs()...)
}

// given takes the world that the scenario is given.
func (s *setting) given() (errs []error) {
	s.sim = *s.World
	s.sim.Expect = sim.Expect{}
	s.sim.Jobs = slices.Clone(s.World.Jobs)
	args := map[string]any{}
	for i := range s.Jobs {
		args[s.Jobs[i].ID] = s.Jobs[i].Args
	}
	for i := range s.sim.Jobs {
		j := &s.sim.Jobs[i]
		j.Run, j.Payload = nil, 0
		names := []string{j.ID}
		for k := range j.Count {
			if j.Count > 1 {
				names = append(names, fmt.Sprintf("%s-%d", j.ID, k+1))
			}
		}
		for _, n := range names {
			a, ok := args[n]
			if !ok {
				a = args[j.ID]
			}
			p, err := payload(a)
			if err != nil {
				errs = append(errs, fmt.Errorf("field Jobs: Args of %s: %w", n, err))
			}
			s.payloads[n] = p
		}
	}
	for i := range s.Jobs {
		if _, ok := s.payloads[s.Jobs[i].ID]; !ok {
			errs = append(errs, fmt.Errorf("field Jobs: the World has no job %q", s.Jobs[i].ID))
		}
	}
	return errs
}

// sound holds the world to the language of plans: what it refuses no world can
// be made of, and no plan of it could be played again.
func (s *setting) sound() error {
	_, err := scenario.Parse("", scenario.Format(&s.sim, scenario.Header{}))
	var wrong scenario.Errors
	if !errors.As(err, &wrong) {
		return err
	}
	var errs []error
	for _, e := range wrong {
		errs = append(errs, fmt.Errorf("%s: %s, want %s", e.Text, e.Problem, e.Want))
	}
	return errors.Join(errs...)
}

// group sets the one group of the world, and returns the length of its leases.
func (s *setting) group() (time.Duration, error) {
	g := s.Group
	if g.Name == "" {
		g.Name = "test"
	}
	if len(g.Queues.Queues()) == 0 {
		g.Queues = engine.Strict("default")
	}
	if g.LeaseDuration == 0 {
		g.LeaseDuration = defaultLease
	}
	c, err := g.PumpConfig(0)
	if err != nil {
		return g.LeaseDuration, fmt.Errorf("field Group: %w", err)
	}
	c.Timeouts = slices.DeleteFunc(c.Timeouts, func(t pump.Timeout) bool { return !s.handles(t.Name) })
	if c.Terms != nil {
		c.Terms = &store.Terms{Default: c.Terms.Default, ByName: slices.DeleteFunc(slices.Clone(c.Terms.ByName), func(p store.NamedPolicy) bool { return !s.handles(p.Name) })}
		if len(c.Terms.ByName) == 0 && c.Terms.Default == (store.Policy{}) {
			c.Terms = nil
		}
	}
	plain(&c)
	s.sim.Groups = []sim.Group{{Name: g.Name, Pumps: g.Pumps, Config: c}}
	return g.LeaseDuration, nil
}

// handles reports whether a job has the name: a plan may speak of no other.
func (s *setting) handles(name string) bool {
	return slices.ContainsFunc(s.Jobs, func(j Job) bool { return j.Name == name })
}

// plain takes out of c what it has by default anyway, so that plans are short.
func plain(c *pump.Config) {
	def := reflect.ValueOf(pump.Config{Queues: c.Queues, LeaseDuration: c.LeaseDuration, PollInterval: c.PollInterval}.Resolved())
	v := reflect.ValueOf(c).Elem()
	for i := range v.NumField() {
		if f := v.Field(i); f.CanInt() && f.Int() == def.Field(i).Int() && v.Type().Field(i).Name != "LeaseDuration" {
			f.SetInt(0)
		}
	}
}

// jobs sets the jobs of the world.
func (s *setting) jobs() (errs []error) {
	if len(s.Jobs) == 0 {
		return []error{errors.New("field Jobs is empty, want at least one job")}
	}
	named := map[string]int{}
	for i := range s.Jobs {
		named[s.Jobs[i].Name]++
	}
	seen := map[string]int{}
	for i := range s.Jobs {
		j := s.Jobs[i]
		seen[j.Name]++
		if j.ID == "" {
			j.ID = j.Name
			if named[j.Name] > 1 {
				j.ID = fmt.Sprintf("%s-%d", j.Name, seen[j.Name])
			}
		}
		if j.Name == "" {
			errs = append(errs, fmt.Errorf("field Jobs: job %d has no Name", i+1))
		}
		if _, ok := s.payloads[j.ID]; ok {
			errs = append(errs, fmt.Errorf("field Jobs: two jobs have the ID %q", j.ID))
		}
		p, err := payload(j.Args)
		if err != nil {
			errs = append(errs, fmt.Errorf("field Jobs: Args of %s: %w", j.ID, err))
		}
		s.payloads[j.ID] = p
		s.sim.Jobs = append(s.sim.Jobs, sim.Job{ID: j.ID, Name: j.Name, Queue: j.Queue, At: j.At, In: j.In, MaxAttempts: j.MaxAttempts, Unique: j.Unique})
	}
	return errs
}

func payload(args any) ([]byte, error) {
	switch a := args.(type) {
	case nil:
		return nil, nil
	case []byte:
		return a, nil
	case json.RawMessage:
		return a, nil
	}
	return json.Marshal(args)
}
