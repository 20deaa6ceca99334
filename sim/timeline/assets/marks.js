// What rows are made of: bars, leases, calls, clocks, and what lies over them.

function paintNode(r, y) {
  paintShades(ofNode[r.node].shades, y, r.h - 1);
  const lastPixel = []; // of the calls to the world outside, by track
  r.runs.forEach((i, k) => {
    const run = D.runs[i];
    if (!inView(run.f, run.t)) return;
    const top = y - r.y + runTop(r, k);
    paintRun(run, i, top);
    lastPixel[r.track[k]] = paintRunCalls(i, top + H.bar, lastPixel[r.track[k]]);
  });
  paintCalls(r.calls, y + r.h - H.calls - 2, 0);
}

function paintRun(run, i, y) {
  const a = Math.max(x(run.f), gutter - 4), b = Math.min(x(run.t), W + 4), w = Math.max(b - a, 2);
  const [fill, on] = attemptColour(run.a);
  ink.fillStyle = fill;
  ink.globalAlpha = run.g ? 0.72 : 1;
  if (w < 6) ink.fillRect(a, y, w, H.bar);
  else {
    ink.beginPath();
    ink.roundRect(a, y, w, H.bar, 3);
    ink.fill();
  }
  ink.globalAlpha = 1;
  const left = Math.max(a, gutter) + 5;
  let right = b - 5;
  if (run.x) { // its outcome was fenced
    sign("fenced", b - 8, y + H.bar / 2, on);
    right -= 14;
  }
  for (const told of run.d || []) {
    const px = x(told.t);
    ink.fillStyle = on;
    ink.fillRect(px - 1, y, 2, H.bar);
    if (b - px > 26) {
      text("■ " + told.y, px + 5, y + H.bar / 2 + 0.5, on, right - px - 6);
      right = px - 4;
    }
  }
  barName(run, left, y + H.bar / 2 + 0.5, on, right - left);
  if (isChosen("run", i) || (view.chosen && view.chosen.kind === "job" && view.chosen.at === run.j)) outline(a, y, w, H.bar);
  hit("run", i, a, y, w, H.bar);
}

// barName writes whose bar it is, or at least which attempt's.
function barName(run, px, py, colour, most) {
  if (most < 8) return;
  const full = D.jobs[run.j].n + "#" + run.a, short = "#" + run.a;
  ink.font = FONT;
  if (ink.measureText(full).width <= most) return text(full, px, py, colour);
  if (most > 70) return text(full, px, py, colour, most);
  if (ink.measureText(short).width <= most + 4) text(short, px - 1, py, colour);
}

const isChosen = (kind, at) => [view.chosen, view.hover].some((c) => c && c.kind === kind && c.at === at);

function outline(px, py, w, h) {
  ink.strokeStyle = C.ink;
  ink.lineWidth = 1.5;
  ink.beginPath();
  ink.roundRect(px - 1, py - 1, w + 2, h + 2, 4);
  ink.stroke();
}

// sign draws one of a few small signs; each has a shape of its own.
function sign(kind, px, py, colour) {
  ink.strokeStyle = ink.fillStyle = colour;
  ink.lineWidth = 1.6;
  ink.beginPath();
  if (kind === "fenced") { // a gate: two posts and two bars
    for (const d of [-3.5, 3.5]) { ink.moveTo(px + d, py - 5); ink.lineTo(px + d, py + 5); }
    for (const d of [-2, 2]) { ink.moveTo(px - 5.5, py + d); ink.lineTo(px + 5.5, py + d); }
    ink.stroke();
  } else if (kind === "lost") {
    ink.moveTo(px - 3.5, py - 3.5); ink.lineTo(px + 3.5, py + 3.5); ink.moveTo(px - 3.5, py + 3.5); ink.lineTo(px + 3.5, py - 3.5);
    ink.stroke();
  } else if (kind === "refused") { // no entry
    ink.arc(px, py, 4, 0, 7);
    ink.moveTo(px - 2, py); ink.lineTo(px + 2, py);
    ink.stroke();
  } else if (kind === "gave up") { // the end of waiting
    ink.moveTo(px - 0.5, py - 4); ink.lineTo(px - 0.5, py + 4);
    ink.stroke();
  } else if (kind === "sent") {
    ink.moveTo(px - 3, py - 3); ink.lineTo(px + 3, py - 3); ink.lineTo(px, py + 3);
    ink.fill();
  } else if (kind === "answered") {
    ink.moveTo(px - 3, py + 3); ink.lineTo(px + 3, py + 3); ink.lineTo(px, py - 3);
    ink.fill();
  }
}

// callColour is by what became of a call; its sign says it too.
const callColour = (c) => (fenced(c) || c.e ? C.bad : c.z ? C.wait : C.mark);

// firstFrom returns where in a list of calls, ordered by send, those begin that may
// reach into view.
function firstFrom(list, t) {
  let lo = 0, hi = list.length;
  while (lo < hi) {
    const mid = (lo + hi) >> 1;
    if (D.calls[list[mid]].s < t) lo = mid + 1;
    else hi = mid;
  }
  return lo;
}

const longestCall = D.calls.reduce((most, c) => Math.max(most, c.last - c.s), 0);

function paintCalls(list, y) {
  let lastPixel = -1;
  const middle = y + H.calls / 2;
  for (let k = firstFrom(list, view.from - longestCall); k < list.length; k++) {
    const c = D.calls[list[k]];
    if (c.s > view.to) break;
    if (c.last < view.from) continue;
    const px = x(c.s), colour = callColour(c), end = x(c.last), strong = fenced(c) || c.l !== NONE || c.e || c.h;
    if (!strong && end - px < 4 && Math.round(px / 2) === lastPixel) continue;
    lastPixel = Math.round(px / 2);
    if (end - px > 8) {
      ink.globalAlpha = 0.45;
      ink.fillStyle = colour;
      ink.fillRect(px, middle - 0.5, end - px, 1);
      ink.globalAlpha = 1;
      if (c.r !== NONE) sign("answered", x(c.r), middle, colour);
    }
    sign("sent", px, middle, colour);
    if (fenced(c)) sign("fenced", end + 9, middle, C.bad);
    if (c.l !== NONE) sign("lost", Math.max(x(c.l), px + 9), middle, C.bad);
    if (end - px > 70) text(c.k, px + 7, middle - 0.5, colour, end - px - 16, SMALL);
    hit("call", list[k], px - 4, y, Math.max(end - px, 0) + 8, H.calls);
  }
}

function paintStore(r, y) {
  paintShades(ofStore.shades, y, r.h - 1);
  let lastPixel = -1;
  for (let k = firstFrom(r.calls, view.from - longestCall); k < r.calls.length; k++) {
    const c = D.calls[r.calls[k]];
    if (c.s > view.to) break;
    for (const t of c.a || []) {
      if (!inView(t, t)) continue;
      const px = Math.round(x(t));
      if (px === lastPixel && !fenced(c)) continue;
      lastPixel = px;
      ink.fillStyle = callColour(c);
      ink.fillRect(px - 0.75, y + r.note + (c.z ? 20 : 15), 1.5, c.z ? 7 : 12);
      if (fenced(c)) sign("fenced", px, y + r.note + 9, C.bad);
      hit("call", r.calls[k], px - 3, y + r.note + 6, 6, 22);
    }
  }
}

function paintJob(r, y) {
  paintShades(ofJob[r.job].shades, y, r.h - 1);
  paintStates(r.job, y + r.top + 6 + H.lease / 2);
  r.leases.forEach((i, k) => paintLease(D.leases[i], i, y + r.top + 6 + r.inStore.track[k] * (H.lease + H.space)));
  const below = y + r.top + 7 + r.inStore.n * (H.lease + H.space);
  r.views.forEach((i, k) => paintView(D.views[i], i, below + r.believed.track[k] * (H.lease + H.space)));
  paintOrder(r.job, y);
}

// paintStates draws a thin line while a job waits, and the state in which it ends.
function paintStates(j, y) {
  const states = D.jobs[j].s || [];
  states.forEach((s, k) => {
    const to = k + 1 < states.length ? states[k + 1].t : D.length;
    if (!inView(s.t, to) || s.s === "executing") return;
    const a = Math.max(x(s.t), gutter), b = Math.min(x(to), W);
    const over = s.s !== "scheduled" && s.s !== "awaiting";
    ink.strokeStyle = C.wait;
    ink.setLineDash(over ? [] : [2, 3]);
    ink.lineWidth = 1;
    if (!over) {
      ink.beginPath();
      ink.moveTo(a, y + 0.5);
      ink.lineTo(b, y + 0.5);
      ink.stroke();
    }
    ink.setLineDash([]);
    if (over && x(s.t) >= gutter) text("→ " + s.s, a + endRoom(j, s.t), y + 0.5, s.s === "succeeded" ? C.dim : C.bad, b - a - 10, SMALL);
  });
}

// endRoom is how much room the word takes with which an attempt ended at t.
function endRoom(j, t) {
  const l = ofJob[j].leases.map((i) => D.leases[i]).find((o) => o.t === t && o.e);
  if (!l) return 6;
  ink.font = SMALL;
  return 8 + ink.measureText(l.e).width;
}

function paintLease(l, i, y) {
  const end = leaseEnd(l), alive = Math.min(end, l.u);
  if (!inView(l.f, end)) return;
  const a = Math.max(x(l.f), gutter - 4), b = Math.min(x(alive), W + 4), z = Math.min(x(end), W + 4);
  ink.fillStyle = attemptColour(l.a)[0];
  ink.fillRect(a, y, Math.max(b - a, 2), H.lease);
  if (z - b > 1) { // it has lapsed and nobody has disposed of it yet
    ink.strokeStyle = C.store;
    ink.lineWidth = 1;
    ink.strokeRect(Math.max(b, gutter - 4) + 0.5, y + 0.5, z - Math.max(b, gutter - 4) - 1, H.lease - 1);
    ink.fillStyle = patterns.lapsed;
    ink.fillRect(Math.max(b, gutter - 4), y, z - Math.max(b, gutter - 4), H.lease);
  }
  ticks(l, y, C.bg, C.ink);
  if (l.t !== NONE && l.e && x(l.t) > gutter - 40) { // how it ended, as far as there is room
    const next = nextLease(l), room = (next === null ? W : Math.min(x(next), W)) - x(l.t);
    text(l.e, x(l.t) + 4, y + H.lease / 2 + 0.5, l.e === "success" ? C.dim : C.ink, Math.min(room - 8, 90), SMALL);
  }
  if (isChosen("lease", i)) outline(a, y, Math.max(z - a, 2), H.lease);
  hit("lease", i, a, y - 2, Math.max(z - a, 3), H.lease + 4);
}

// nextLease is when the next lease of the same job begins, or null.
function nextLease(l) {
  const next = ofJob[l.j].leases.map((i) => D.leases[i]).find((o) => o.f >= l.f && o !== l);
  return next ? next.f : null;
}

function paintView(l, i, y) {
  const end = viewEnd(l);
  if (!inView(l.f, end)) return;
  const a = Math.max(x(l.f), gutter - 4), b = Math.max(Math.min(x(end), W + 4), a + 2);
  const colour = attemptColour(l.a)[0];
  ink.fillStyle = colour;
  ink.globalAlpha = 0.22;
  ink.fillRect(a, y, b - a, H.lease);
  ink.globalAlpha = 1;
  ink.strokeStyle = colour;
  ink.lineWidth = 1.5;
  ink.strokeRect(a + 0.75, y + 0.75, b - a - 1.5, H.lease - 1.5);
  ticks(l, y, colour, colour);
  text(nodeName(laneOf(l.w)), Math.max(a, gutter) + 5, y + H.lease / 2 + 0.5, C.ink, b - a - 8, SMALL);
  if (isChosen("view", i)) outline(a, y, b - a, H.lease);
  hit("view", i, a, y - 2, b - a, H.lease + 4);
}

// ticks marks renewals on a lease.
function ticks(l, y, inside, outside) {
  let last = -9;
  for (const r of l.r || []) {
    if (!inView(r.t, r.t)) continue;
    const px = x(r.t);
    if (px - last < 3) continue;
    last = px;
    ink.fillStyle = inside;
    ink.fillRect(px - 0.75, y, 1.5, H.lease);
    ink.fillStyle = outside;
    ink.fillRect(px - 0.75, y - 2.5, 1.5, 2.5);
  }
}

// paintOrder numbers the calls of a job whose calls make no sense, in the longest
// order that does, and rings the first that then does not.
function paintOrder(j, y) {
  const l = ofJob[j].linear;
  if (!l) return;
  const badge = (id, label, bad) => {
    const i = callAt.get(id);
    if (i === undefined) return;
    const c = D.calls[i], t = c.a ? c.a[0] : c.s, px = x(t);
    if (!inView(t, t)) return;
    ink.fillStyle = bad ? C.bad : C.bg;
    ink.strokeStyle = bad ? C.bad : C.dim;
    ink.lineWidth = 1;
    ink.beginPath();
    ink.arc(px, y + 9, 6.5, 0, 7);
    ink.fill();
    ink.stroke();
    ink.textAlign = "center";
    text(label, px, y + 9.5, bad ? C.bg : C.ink, undefined, SMALL);
    ink.textAlign = "start";
    hit("call", i, px - 6, y + 2, 12, 13);
  };
  l.o.forEach((c, k) => badge(c.c, String(k + 1), false));
  badge(l.n.c, "✕", true);
}

// paintClock draws how far a clock is ahead, by a scale of its own.
function paintClock(r, y) {
  const c = r.clock, low = Math.min(0, ...c.p.map((p) => p.a)), high = Math.max(0, ...c.p.map((p) => p.a));
  const at = (a) => y + r.h - 7 - ((a - low) / (high - low || 1)) * (r.h - 14);
  ink.fillStyle = C.line;
  ink.fillRect(gutter, Math.round(at(0)), W - gutter, 1);
  ink.strokeStyle = attemptColours[0][0];
  ink.lineWidth = 1.75;
  ink.setLineDash(c.n.startsWith("node time") ? [5, 3] : []);
  ink.beginPath();
  c.p.forEach((p, n) => (n === 0 ? ink.moveTo(x(p.t), at(p.a)) : ink.lineTo(x(p.t), at(p.a))));
  ink.lineTo(x(D.length), at(c.p[c.p.length - 1].a));
  ink.stroke();
  ink.setLineDash([]);
  const value = ahead(c, view.mouse !== null && view.mouse > gutter ? timeAt(view.mouse) : view.to);
  plate(aheadWords(value), gutter + 8, value * 2 > low + high ? y + r.h - 10 : y + 10, 200);
  hits.push({ kind: "clock", at: r, x: gutter, y, w: W - gutter, h: r.h });
}

const aheadWords = (d) => (d === 0 ? "as true time" : length(Math.abs(d)) + (d > 0 ? " ahead" : " behind"));

// ahead is how far a clock is ahead at an instant.
function ahead(c, t) {
  let last = c.p[0];
  for (const p of c.p) {
    if (p.t > t) return last.t === p.t ? p.a : last.a + ((p.a - last.a) * (t - last.t)) / (p.t - last.t);
    last = p;
  }
  return last.a;
}
