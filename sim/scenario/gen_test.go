package scenario

import (
	"fmt"
	"reflect"
	"time"

	"pgregory.net/rapid"

	"backwave/engine/pump"
	"backwave/sim"
	"backwave/store"
)

// generator draws scenarios from the tables of the language: a field that is
// added to a table is drawn from then on.
type generator struct {
	t      *rapid.T
	handed map[target][]string
	end    time.Duration
}

func drawScenario(t *rapid.T) *sim.Scenario {
	g := &generator{t: t, end: time.Duration(rapid.Int64Range(1, 1e6).Draw(t, "for")) * time.Millisecond, handed: map[target][]string{
		toClock: {"store"}, toHandler: {"work"},
	}}
	doc := &document{}
	v := reflect.ValueOf(doc).Elem()
	for _, f := range scenarioTable().fields {
		if f.key != "plan" && f.key != "version" {
			g.field(&f, v)
		}
		if f.key == "jobs" {
			g.name(&doc.Scenario)
		}
	}
	doc.Scenario.For = g.end
	if len(doc.Scenario.Timeline) > 0 {
		doc.Scenario.Level = sim.Adversarial // a fault would not be pristine
	}
	for i := range doc.Scenario.Groups {
		c := &doc.Scenario.Groups[i].Config
		if c.Validate() != nil { // drawn settings need not fit together
			*c = pump.Config{Queues: c.Queues, Weighted: c.Weighted, Terms: c.Terms, Timeouts: c.Timeouts}
		}
		if c.Validate() != nil {
			c.Terms = nil
		}
		if c.Terms != nil && reflect.ValueOf(*c.Terms).IsZero() {
			c.Terms = nil // what no file can say
		}
	}
	return &doc.Scenario
}

// name gives what was drawn names that are known and drawn once.
func (g *generator) name(sc *sim.Scenario) {
	for i := range sc.Groups {
		sc.Groups[i].Name = fmt.Sprintf("group %d", i)
		for k := range sc.Groups[i].Config.Queues {
			sc.Groups[i].Config.Queues[k].Name = fmt.Sprintf("q%d", k)
			g.handed[toQueue] = append(g.handed[toQueue], fmt.Sprintf("q%d", k))
		}
		g.handed[toGroup] = append(g.handed[toGroup], sc.Groups[i].Name)
	}
	for i := range sc.Nodes {
		sc.Nodes[i].Name, sc.Nodes[i].Groups = fmt.Sprintf("n%d", i), nil
		g.handed[toNode] = append(g.handed[toNode], sc.Nodes[i].Name)
		g.handed[toClock] = append(g.handed[toClock], sc.Nodes[i].Name)
	}
	if len(sc.Jobs) == 0 {
		sc.Jobs = []sim.Job{{}}
	}
	for i := range sc.Jobs {
		j := &sc.Jobs[i]
		j.ID, j.Name, j.Count = fmt.Sprintf("job:%d", i), "", min(j.Count, 7)
		j.Queue = sc.Groups[0].Config.Queues[0].Name
		g.handed[toJobs] = append(g.handed[toJobs], j.ID)
		eachName(j, func(s string) { g.handed[toJob] = append(g.handed[toJob], s) })
	}
}

func (g *generator) field(f *field, v reflect.Value) {
	if !f.need && rapid.Bool().Draw(g.t, "absent") {
		return
	}
	target, _ := follow(v, f.path, true)
	g.value(f.kind, target)
}

func (g *generator) value(k kind, v reflect.Value) {
	switch k := k.(type) {
	case word:
		v.SetString(rapid.StringMatching(`[a-z0-9"'#:,\[\]{}&*!|>%@é-][ -~à-ÿ]{0,20}`).Draw(g.t, "word"))
	case prose:
		v.SetString(rapid.OneOf(rapid.String(), rapid.StringMatching(`([ -~]{0,20}\n){0,4}[a-z]*`)).Draw(g.t, "prose"))
	case duration:
		top := k.max
		if k.instant {
			top = g.end
		}
		v.SetInt(rapid.OneOf(rapid.Int64Range(int64(k.min), int64(top)), rapid.Just(int64(min(max(k.min, time.Minute), top)))).Draw(g.t, "span"))
	case integer:
		v.SetInt(rapid.Int64Range(k.min, k.max).Draw(g.t, "number"))
	case toggle:
		b := rapid.Bool().Draw(g.t, "flag")
		if v.Kind() == reflect.Pointer {
			v.Set(reflect.ValueOf(&b))
			return
		}
		v.SetBool(b)
	case choice:
		s := rapid.SampledFrom(k).Draw(g.t, "choice")
		k.read(&decoder{}, textNode(s), v)
	case ref:
		if len(g.handed[k.to]) > 0 {
			v.SetString(rapid.SampledFrom(g.handed[k.to]).Draw(g.t, "ref"))
		}
	case many:
		n := rapid.IntRange(1, 3).Draw(g.t, "items")
		if k.exact && rapid.Bool().Draw(g.t, "empty") {
			n = 0
		}
		if r, ok := k.of.(ref); ok && len(g.handed[r.to]) == 0 {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			g.value(k.of, v.Index(i))
		}
	case record:
		for i := range k.fields {
			g.field(&k.fields[i], v)
		}
	case byName:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		v.Index(0).FieldByName("Name").SetString("work")
		g.value(k.of, v.Index(0).FieldByName(k.field))
	default:
		g.special(k, v)
	}
}

func (g *generator) special(k kind, v reflect.Value) {
	switch k.(type) {
	case served:
		c := v.Addr().Interface().(*pump.Config)
		c.Weighted = rapid.Bool().Draw(g.t, "weighted")
		for range rapid.IntRange(1, 3).Draw(g.t, "queues") {
			q := pump.Queue{}
			if c.Weighted {
				q.Weight = rapid.IntRange(1, 1000).Draw(g.t, "weight")
			}
			c.Queues = append(c.Queues, q)
		}
	case spread:
		p := v.Addr().Interface().(*store.Policy)
		p.Jitter = rapid.IntRange(0, 50).Draw(g.t, "jitter")
		p.NoJitter = p.Jitter == 0
	case address:
		v.Set(reflect.ValueOf(sim.Address{Node: "n0", Group: rapid.SampledFrom([]string{"", "group 0"}).Draw(g.t, "group")}))
	case bounds:
		low := rapid.IntRange(0, 100).Draw(g.t, "low")
		high := rapid.OneOf(rapid.Just(-1), rapid.IntRange(low, 200)).Draw(g.t, "high")
		v.Set(reflect.ValueOf(&sim.Range{Min: low, Max: high}))
	case anyFault:
		tables := faultTables()
		f := rapid.SampledFrom(tables).Draw(g.t, "fault")
		p := reflect.New(f.of).Elem()
		g.value(record{f}, p)
		v.Set(p)
	default:
		panic(fmt.Sprintf("no generator for %T", k))
	}
}
