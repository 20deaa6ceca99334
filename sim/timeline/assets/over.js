// What lies over the rows: the axis, the moments, the arrows of calls, and the map
// of the whole run.

function grid() {
  const s = step(view.to - view.from, Math.max(2, (W - gutter) / (view.to - view.from < SECOND ? 130 : 92)));
  const out = { step: s, at: [] };
  for (let t = Math.ceil(Math.max(0, view.from) / s) * s; t <= view.to; t += s) out.at.push(t);
  ink.fillStyle = C.faint;
  for (const t of out.at) ink.fillRect(Math.round(x(t)), H.axis, 1, CH);
  return out;
}

function axis(ticks) {
  ink.fillStyle = C.bg;
  ink.fillRect(0, 0, W, H.axis);
  ink.fillStyle = C.line;
  ink.fillRect(0, H.axis - 1, W, 1);
  ink.fillRect(gutter - 1, H.axis, 1, CH);
  for (const t of ticks.at) {
    const px = Math.round(x(t));
    ink.fillStyle = C.dim;
    ink.fillRect(px, H.axis - 5, 1, 5);
    text(tick(t, ticks.step), px + 4, 12, C.dim);
  }
  ink.fillStyle = C.bg;
  ink.fillRect(0, 0, gutter - 1, H.axis - 1);
  text(D.epoch ? "since start" : "true time", 10, 12, C.dim, gutter - 14);
  D.violations.forEach((v, i) => {
    if (!inView(v.t, v.t)) return;
    if (i !== view.violation && D.violations.some((o, k) => k < i && o.t === v.t)) return;
    flag(v, i);
  });
  if (view.mouse !== null && view.mouse >= gutter) label(clock(timeAt(view.mouse), (view.to - view.from) / W), view.mouse, C.ink, C.bg);
}

function flag(v, i) {
  const px = x(v.t);
  const strong = i === view.violation;
  if (!strong) {
    ink.fillStyle = C.bad;
    ink.beginPath();
    ink.moveTo(px - 5, H.axis - 1);
    ink.lineTo(px + 5, H.axis - 1);
    ink.lineTo(px, H.axis - 9);
    ink.fill();
  } else label("▲ " + v.i, px, C.bad, C.bg);
  hits.push({ kind: "violation", at: i, x: px - 6, y: 0, w: 12, h: H.axis });
}

// label writes a tag at the axis, within the screen.
function label(s, px, ground, colour) {
  ink.font = FONT;
  const w = ink.measureText(s).width + 10, left = Math.max(gutter, Math.min(px - w / 2, W - w - 2));
  ink.fillStyle = ground;
  ink.beginPath();
  ink.roundRect(left, 3, w, 18, 3);
  ink.fill();
  text(s, left + 5, 12.5, colour);
}

// paintMoments draws what is true for all rows: violations, the event at which n
// and p are, and the mouse.
function paintMoments() {
  const line = (t, colour, width, dash) => {
    if (!inView(t, t)) return;
    ink.strokeStyle = colour;
    ink.lineWidth = width;
    ink.setLineDash(dash);
    ink.beginPath();
    ink.moveTo(x(t), H.axis);
    ink.lineTo(x(t), CH);
    ink.stroke();
    ink.setLineDash([]);
  };
  D.violations.forEach((v, i) => { if (i !== view.violation) line(v.t, C.bad, 1, [1, 4]); });
  const v = D.violations[view.violation];
  if (v) line(v.t, C.bad, 2, []);
  if (view.event >= 0 && !(v && v.t === D.events[view.event].t)) line(D.events[view.event].t, C.focus, 1.5, [5, 3]);
  if (view.mouse !== null && view.mouse > gutter) line(timeAt(view.mouse), C.dim, 0.75, []);
}

// paintArrows draws calls from their node to the store and back: the one under the
// mouse, the one that is chosen, and those of a chosen job, if they are few.
function paintArrows(scroll) {
  const storeAt = rows.find((r) => r.kind === "store");
  if (!storeAt) return;
  const draw = new Set();
  const out = new Set();
  for (const c of [view.chosen, view.hover]) {
    if (c && c.kind === "call") draw.add(c.at);
    if (c && c.kind === "outside") out.add(c.at);
  }
  if (view.event >= 0 && D.events[view.event].v) out.add(D.events[view.event].v - 1);
  if (view.event >= 0 && D.events[view.event].c && callAt.has(D.events[view.event].c)) draw.add(callAt.get(D.events[view.event].c));
  const job = view.chosen && view.chosen.kind === "job" ? ofJob[view.chosen.at].calls : [];
  const few = job.filter((i) => inView(D.calls[i].s, D.calls[i].last));
  if (few.length <= 60) few.forEach((i) => { if (!draw.has(i) && x(D.calls[i].last) - x(D.calls[i].s) > 9) arrow(i, storeAt, scroll, 0.35); });
  const chosen = view.chosen || {};
  const outside = (chosen.kind === "job" ? ofJob[chosen.at].outside : chosen.kind === "run" ? ofRun[chosen.at] : []).filter((i) => inView(OUT[i].s, outLast(OUT[i])));
  if (outside.length <= 60) outside.forEach((i) => { if (!out.has(i)) outArrow(i, scroll, 0.35); });
  draw.forEach((i) => arrow(i, storeAt, scroll, 1));
  out.forEach((i) => outArrow(i, scroll, 1));
}

function arrow(i, storeAt, scroll, strength) {
  const c = D.calls[i], from = rows.find((r) => r.kind === "node" && r.node === laneOf(c.w));
  const up = from ? H.axis + from.y + from.h - H.calls / 2 - 2 - scroll : H.axis + storeAt.y - 16 - scroll;
  const down = H.axis + storeAt.y + storeAt.note + 19 - scroll;
  way(c, up, down, fenced(c) || c.l !== NONE || c.e ? C.bad : C.focus, strength);
}

// way draws the way of a call there and back.
function way(c, up, down, colour, strength) {
  ink.globalAlpha = strength;
  const shaft = (ax, ay, bx, by, dash) => {
    ink.strokeStyle = ink.fillStyle = colour;
    ink.lineWidth = 1.5;
    ink.setLineDash(dash);
    ink.beginPath();
    ink.moveTo(ax, ay);
    ink.lineTo(bx, by);
    ink.stroke();
    ink.setLineDash([]);
  };
  const head = (ax, ay, bx, by) => {
    const turn = Math.atan2(by - ay, bx - ax);
    ink.beginPath();
    ink.moveTo(bx, by);
    for (const d of [0.42, -0.42]) ink.lineTo(bx - 9 * Math.cos(turn + d), by - 9 * Math.sin(turn + d));
    ink.fill();
  };
  const a = x(c.s);
  for (const t of c.a || []) {
    shaft(a, up, x(t), down, []);
    head(a, up, x(t), down);
  }
  if (c.a && c.r !== NONE) {
    shaft(x(c.a[0]), down, x(c.r), up, [4, 3]);
    head(x(c.a[0]), down, x(c.r), up);
  }
  if (c.late !== undefined && c.late !== NONE) { // nobody waits for it
    shaft(x(c.a[0]), down, x(c.late), up, [4, 3]);
    sign("lost", x(c.late), up, colour);
  }
  if (c.l !== NONE) { // on its way there or back
    const ax = c.a ? x(c.a[c.a.length - 1]) : a, ay = c.a ? down : up, bx = Math.max(x(c.l), ax) + 10, by = (up + down) / 2;
    shaft(ax, ay, bx, by, [4, 3]);
    sign("lost", bx, by, colour);
  }
  ink.globalAlpha = 1;
}

const map = $("map"), mapInk = map.getContext("2d");
let crowd = null; // how many events are where on the map; counted anew when the filter changes

// paintMap draws the whole run: where something happens, what is violated, and
// what is in view.
function paintMap() {
  const scale = devicePixelRatio || 1, w = map.clientWidth, h = map.clientHeight, g = mapInk;
  map.width = w * scale;
  map.height = h * scale;
  g.setTransform(scale, 0, 0, scale, 0, 0);
  const px = (t) => (t / D.length) * w;
  g.fillStyle = C.soft;
  g.fillRect(0, 0, w, h);
  for (const s of D.shades) {
    if (s.f === s.t) continue;
    g.fillStyle = C.shade;
    g.fillRect(px(s.f), 0, Math.max(px(s.t) - px(s.f), 1), h);
  }
  if (crowd === null || crowd.length !== Math.max(1, Math.ceil(w / 2))) {
    crowd = new Float64Array(Math.max(1, Math.ceil(w / 2)));
    for (const e of D.events) if (eventShown(e)) crowd[Math.min(crowd.length - 1, Math.floor(px(e.t) / 2))]++;
  }
  const bins = crowd, most = Math.max(1, ...bins);
  g.fillStyle = C.mark;
  bins.forEach((n, i) => { if (n > 0) g.fillRect(i * 2, h - 3 - Math.sqrt(n / most) * (h - 14), 1.5, Math.sqrt(n / most) * (h - 14) + 3); });
  g.fillStyle = C.bad;
  for (const v of D.violations) {
    g.fillRect(px(v.t) - 0.75, 0, 1.5, h);
    g.beginPath();
    g.moveTo(px(v.t) - 5, 0);
    g.lineTo(px(v.t) + 5, 0);
    g.lineTo(px(v.t), 8);
    g.fill();
  }
  const a = Math.max(0, px(view.from)), b = Math.min(w, px(view.to));
  g.globalAlpha = 0.55;
  g.fillStyle = C.bg;
  g.fillRect(0, 0, a, h);
  g.fillRect(b, 0, w - b, h);
  g.globalAlpha = 1;
  g.strokeStyle = C.focus;
  g.lineWidth = 1.5;
  g.strokeRect(a + 0.75, 0.75, Math.max(b - a - 1.5, 3), h - 1.5);
}
