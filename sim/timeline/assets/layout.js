// Rows: what is drawn where, from top to bottom. A row knows its place and what is
// in it; nothing here depends on the time in view.

const H = { axis: 26, head: 24, note: 17, gap: 3, bar: 17, calls: 15, lease: 9, space: 4, clock: 34, store: 34, out: 13 };
let rows = [], contentHeight = 0;

// pack puts intervals into as few tracks as hold them side by side.
function pack(items, from, to) {
  const ends = [], track = [];
  const order = items.map((_, i) => i).sort((a, b) => from(items[a]) - from(items[b]));
  for (const i of order) {
    let k = ends.findIndex((e) => e <= from(items[i]));
    if (k < 0) k = ends.push(0) - 1;
    ends[k] = to(items[i]);
    track[i] = k;
  }
  return { track, n: Math.max(1, ends.length) };
}

// A lease in the store is there until it is disposed of, an own view is over when
// it runs out, or before that when the node gives it up.
const leaseEnd = (l) => (l.t === NONE ? D.length : l.t);
const viewEnd = (l) => (l.t === NONE ? Math.min(l.u, D.length) : Math.min(l.t, l.u));

// note is the room for the words of what lasts.
const note = (shades) => (shades.some((i) => D.shades[i].f !== D.shades[i].t) ? H.note : 0);

function nodeRow(o) {
  const runs = ofNode[o].runs.filter((i) => jobShown(D.runs[i].j) || view.jobs === null);
  const packed = pack(runs, (i) => D.runs[i].f, (i) => D.runs[i].t);
  const calls = ofNode[o].calls.filter((i) => callFits(D.calls[i]));
  const out = runs.some((i) => ofRun[i].length > 0) ? H.out : 0; // room below each bar
  return { kind: "node", node: o, runs, calls, out, track: packed.track, note: note(ofNode[o].shades), h: note(ofNode[o].shades) + 6 + packed.n * (H.bar + out + H.gap) + H.calls + 4 };
}

// runTop is how far down the bar of the k-th handler of a node is.
const runTop = (r, k) => r.y + r.note + 5 + r.track[k] * (H.bar + r.out + H.gap);

// jobsInOrder lists the jobs in view: first those of which something is violated,
// in the order of what is.
function jobsInOrder() {
  const rank = (j) => (ofJob[j].violations.length > 0 ? ofJob[j].violations[0] : ofJob[j].linear ? 1e6 : 1e9);
  return D.jobs.map((_, j) => j).filter(jobShown).sort((a, b) => rank(a) - rank(b) || a - b);
}

function jobRow(j) {
  const leases = ofJob[j].leases.filter((i) => nodeShown(laneOf(D.leases[i].w)));
  const views = ofJob[j].views.filter((i) => nodeShown(laneOf(D.views[i].w)));
  const top = note(ofJob[j].shades) || (ofJob[j].linear ? 12 : 0);
  const inStore = pack(leases, (i) => D.leases[i].f, (i) => leaseEnd(D.leases[i]));
  const believed = pack(views, (i) => D.views[i].f, (i) => viewEnd(D.views[i]));
  return { kind: "job", job: j, leases, views, inStore, believed, top, h: top + 8 + (inStore.n + believed.n) * (H.lease + H.space) + 4 };
}

const level = (c) => c.p.every((p) => p.a === 0);

// relayout makes the rows again, after the filter or what is shown has changed: in
// large if all of them then fit.
function relayout() {
  crowd = null;
  Object.assign(H, { bar: 22, lease: 13, space: 5, calls: 18 });
  const few = D.jobs.length < 100;
  if (few) stack();
  if (!few || contentHeight > $("chart").clientHeight - H.axis) {
    Object.assign(H, { bar: 17, lease: 9, space: 4, calls: 15 });
    stack();
  }
  size(); // a scroll bar has come or gone
}

function stack() {
  rows = [];
  const head = (text, note) => rows.push({ kind: "head", text, note, h: H.head });
  head("Nodes", "handlers at work, and the calls they make");
  D.nodes.forEach((_, o) => { if (nodeShown(o)) rows.push(nodeRow(o)); });
  rows.push({ kind: "store", calls: D.calls.map((_, i) => i).filter((i) => callFits(D.calls[i]) && nodeShown(laneOf(D.calls[i].w))), note: note(ofStore.shades), h: note(ofStore.shades) + H.store });
  rows.push(...outsideRows());
  head("Leases", "solid: as the store knows them; outlined: as the node believes them");
  jobsInOrder().forEach((j) => rows.push(jobRow(j)));
  const lanes = [STORE, ...D.nodes.map((_, o) => o).filter(nodeShown)];
  const bent = lanes.flatMap((o) => (o < 0 ? ofStore : ofNode[o]).clocks.map((i) => D.clocks[i])).filter((c) => !level(c));
  const right = D.epoch ? "the clocks of the records" : "true time";
  if (D.clocks.length > 0) {
    head("Clocks", bent.length === 0 ? "all of them agree with " + right : "how far each is ahead of " + right + "; those not shown agree with it");
    for (const c of bent) rows.push({ kind: "clock", clock: c, h: H.clock });
  }
  let y = 0;
  for (const r of rows) {
    r.y = y;
    y += r.h;
  }
  contentHeight = y + 12;
  $("tall").style.height = H.axis + contentHeight + "px";
}

// reveal scrolls until the row of a job is in view.
function reveal(j) {
  const r = rows.find((x) => x.kind === "job" && x.job === j);
  const c = $("chart");
  if (!r) return;
  const top = c.scrollTop, bottom = top + c.clientHeight - H.axis;
  if (r.y < top || r.y + r.h > bottom) c.scrollTop = Math.max(0, r.y + r.h + 40 - (c.clientHeight - H.axis));
}

// toLeases scrolls to the leases.
function toLeases() {
  $("chart").scrollTop = rows.find((r) => r.kind === "head" && r.text === "Leases").y;
}

// rowsIn returns the rows between two heights.
function rowsIn(top, bottom) {
  let lo = 0, hi = rows.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (rows[mid].y + rows[mid].h <= top) lo = mid + 1;
    else hi = mid;
  }
  const out = [];
  for (; lo < rows.length && rows[lo].y < bottom; lo++) out.push(rows[lo]);
  return out;
}
