// What the page is about: the data, and indices into it.

const D = JSON.parse(document.getElementById("data").textContent);
const NONE = -1, STORE = -1, PEOPLE = -2;
const $ = (id) => document.getElementById(id);

// What the view shows. Times are nanoseconds.
const view = {
  from: 0, to: D.length, // in view
  hover: null, chosen: null, // {kind, at: index} of something drawn
  event: -1, // index of the event at which n and p are
  violation: 0, idle: false, jobs: null, nodes: null, // null: all
  tab: "details", theme: "", mouse: null,
};

// Attempts are told apart by colour and by the number in their label. The colours
// are those of Okabe and Ito, which all kinds of colour vision tell apart.
const attemptColours = [["#0072b2", "#fff"], ["#e69f00", "#1c1e21"], ["#009e73", "#fff"], ["#cc79a7", "#1c1e21"], ["#56b4e9", "#1c1e21"], ["#d55e00", "#fff"]];
const attemptColour = (n) => attemptColours[(Math.max(1, n) - 1) % attemptColours.length];

const nodeName = (i) => (i === STORE ? "store" : i === PEOPLE ? "people" : D.nodes[i]);
const laneOf = (worker) => (worker < 0 ? PEOPLE : D.workers[worker].o);
const workerName = (i) => (i < 0 ? "people" : D.workers[i].n);

const callAt = new Map(); // id → index
const ofJob = D.jobs.map(() => ({ runs: [], leases: [], views: [], calls: [], shades: [], events: [], linear: null, violations: [], outside: [] }));
const ofNode = D.nodes.map(() => ({ runs: [], calls: [], shades: [], clocks: [] }));
const ofStore = { shades: [], clocks: [] };
const people = { calls: [] };

D.runs.forEach((r, i) => { ofJob[r.j].runs.push(i); ofNode[laneOf(r.w)].runs.push(i); });
D.leases.forEach((l, i) => ofJob[l.j].leases.push(i));
D.views.forEach((l, i) => ofJob[l.j].views.push(i));
D.shades.forEach((s, i) => {
  if (s.j !== NONE) ofJob[s.j].shades.push(i);
  else (s.o < 0 ? ofStore : ofNode[s.o]).shades.push(i);
});
D.calls.forEach((c, i) => {
  callAt.set(c.i, i);
  c.last = Math.max(c.s, c.r, c.l, ...(c.a || [])); // when it is over
  (c.w < 0 ? people : ofNode[laneOf(c.w)]).calls.push(i);
  new Set((c.o || []).map((r) => r.j)).forEach((j) => { if (j !== NONE) ofJob[j].calls.push(i); });
});
D.events.forEach((e, i) => { if (e.j !== NONE) ofJob[e.j].events.push(i); });
D.clocks.forEach((c, i) => (c.o < 0 ? ofStore : ofNode[c.o]).clocks.push(i));
(D.linear || []).forEach((l) => { if (l.j !== NONE) ofJob[l.j].linear = l; });
D.violations.forEach((v, i) => { if (v.j !== NONE) ofJob[v.j].violations.push(i); });

// An idle call asked for work, or for leases to sweep, and found none.
const callShown = (c) => view.idle || !c.z;
const jobShown = (j) => j === NONE ? view.jobs === null : view.jobs === null || view.jobs.has(j);
const nodeShown = (o) => o < 0 || view.nodes === null || view.nodes.has(o);
const callFits = (c) => callShown(c) && (view.jobs === null || (c.o || []).some((r) => view.jobs.has(r.j)));
const fenced = (c) => (c.o || []).some((r) => r.x);

// eventShown reports whether n and p stop at an event, and the list shows it.
function eventShown(e) {
  if (view.jobs === null && view.nodes === null) return true;
  if (e.j !== NONE && view.jobs !== null) return view.jobs.has(e.j) && nodeShown(e.o);
  if (view.jobs !== null && view.nodes === null) return e.o < 0 ? e.j === NONE && e.b : !!e.b;
  return nodeShown(e.o);
}

// setFilter understands words that are, or are part of, the names of jobs and
// nodes; job: and node: say which is meant. A word that is a whole name means
// only that.
function setFilter(text) {
  const jobs = new Set(), nodes = new Set();
  let any = false;
  for (const word of text.trim().split(/\s+/).filter(Boolean)) {
    any = true;
    const [, kind, name] = word.match(/^(?:(job|node):)?(.*)$/s);
    const pick = (names, into) => {
      const exact = names.indexOf(name);
      if (exact >= 0) return into.add(exact);
      const low = name.toLowerCase();
      names.forEach((n, i) => { if (n.toLowerCase().includes(low)) into.add(i); });
    };
    const whole = !kind && (D.jobs.some((j) => j.n === name) || D.nodes.includes(name));
    if (kind !== "node" && (!whole || D.jobs.some((j) => j.n === name))) pick(D.jobs.map((j) => j.n), jobs);
    if (kind !== "job" && (!whole || D.nodes.includes(name))) pick(D.nodes, nodes);
  }
  view.jobs = any && (jobs.size > 0 || nodes.size === 0) ? jobs : null;
  view.nodes = any && nodes.size > 0 ? nodes : null;
}

// attempts lists what is known of each attempt of a job, in order.
function attempts(j) {
  const out = new Map();
  const of = (a, w) => {
    const key = a + " " + w;
    if (!out.has(key)) out.set(key, { attempt: a, worker: w, leases: [], views: [], runs: [] });
    return out.get(key);
  };
  for (const i of ofJob[j].leases) of(D.leases[i].a, D.leases[i].w).leases.push(i);
  for (const i of ofJob[j].views) of(D.views[i].a, D.views[i].w).views.push(i);
  for (const i of ofJob[j].runs) of(D.runs[i].a, D.runs[i].w).runs.push(i);
  return [...out.values()].sort((a, b) => a.attempt - b.attempt);
}
