// Painting: one canvas as large as what is in view. Only rows in view are painted,
// and of them only what is in the time in view.

const canvas = $("canvas");
let ink = canvas.getContext("2d");
let W = 0, CH = 0, gutter = 112, C = {}, patterns = {}, hits = [];
const SMALL = '11px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

const x = (t) => gutter + ((t - view.from) / (view.to - view.from)) * (W - gutter);
const timeAt = (px) => view.from + ((px - gutter) / (W - gutter)) * (view.to - view.from);
const inView = (from, to) => to >= view.from && from <= view.to;

// hatch makes a pattern of lines: shades are told apart without colour.
function hatch(colour, angle, gap, width) {
  const size = gap * 4, scale = devicePixelRatio || 1;
  const p = document.createElement("canvas");
  p.width = p.height = size * scale;
  const g = p.getContext("2d");
  g.scale(scale, scale);
  g.strokeStyle = colour;
  g.lineWidth = width;
  g.beginPath();
  for (let i = -size; i <= size * 2; i += gap) {
    if (angle === "/") { g.moveTo(i, size); g.lineTo(i + size, 0); }
    if (angle === "\\") { g.moveTo(i, 0); g.lineTo(i + size, size); }
    if (angle === "x") { g.moveTo(i, size); g.lineTo(i + size, 0); g.moveTo(i, 0); g.lineTo(i + size, size); }
    if (angle === "|") { g.moveTo(i + 0.5, 0); g.lineTo(i + 0.5, size); }
    if (angle === "-") { g.moveTo(0, i + 0.5); g.lineTo(size, i + 0.5); }
  }
  g.stroke();
  const pattern = ink.createPattern(p, "repeat");
  pattern.setTransform(new DOMMatrix().scale(1 / scale));
  return pattern;
}

// dress reads the colours of the theme.
function dress() {
  const css = getComputedStyle(document.documentElement);
  for (const name of ["bg", "soft", "line", "faint", "ink", "dim", "bad", "badbg", "store", "view", "shade", "hatch", "mark", "wait", "focus"]) C[name] = css.getPropertyValue("--" + name).trim();
  patterns = {
    down: hatch(C.hatch, "x", 6, 1), pause: hatch(C.hatch, "/", 7, 1), partition: hatch(C.hatch, "\\", 7, 1),
    slow: hatch(C.hatch, "|", 9, 1), outage: hatch(C.hatch, "x", 8, 1), stall: hatch(C.hatch, "/", 7, 1),
    error: hatch(C.hatch, "|", 6, 1), hold: hatch(C.hatch, "-", 5, 1), lapsed: hatch(C.store, "/", 4, 1),
  };
}

function size() {
  const c = $("chart"), scale = devicePixelRatio || 1;
  W = c.clientWidth;
  CH = c.clientHeight;
  gutter = names();
  canvas.width = W * scale;
  canvas.height = CH * scale;
  canvas.style.width = W + "px";
  canvas.style.height = CH + "px";
}

// names is the room that the names of rows take, within reason.
function names() {
  ink.font = "600 " + FONT;
  const widest = [...D.nodes, ...OTHERS, ...D.jobs.slice(0, 500).map((j) => j.n)].reduce((most, n) => Math.max(most, ink.measureText(n).width), 60);
  return Math.round(Math.min(widest + 38, W < 560 ? 92 : 180));
}

function hit(kind, at, px, py, w, h) {
  hits.push({ kind, at, x: px, y: py, w: Math.max(w, 5), h });
}

function text(s, px, py, colour, most, font = FONT) {
  if (most !== undefined && most < 14) return;
  ink.font = font;
  ink.fillStyle = colour;
  if (most !== undefined && ink.measureText(s).width > most) {
    while (s.length > 1 && ink.measureText(s + "…").width > most) s = s.slice(0, -Math.ceil(s.length / 12));
    if (s.length < 2) return;
    s += "…";
  }
  ink.fillText(s, px, py);
}

function paint() {
  const scale = devicePixelRatio || 1, scroll = $("chart").scrollTop;
  hits = [];
  ink.setTransform(scale, 0, 0, scale, 0, 0);
  ink.fillStyle = C.bg;
  ink.fillRect(0, 0, W, CH);
  ink.textBaseline = "middle";
  const ticks = grid();
  ink.save();
  ink.beginPath();
  ink.rect(0, H.axis, W, CH - H.axis);
  ink.clip();
  for (const r of rowsIn(scroll, scroll + CH - H.axis)) paintRow(r, H.axis + r.y - scroll);
  paintMoments();
  paintArrows(scroll);
  ink.restore();
  axis(ticks);
}

function paintRow(r, y) {
  if (r.kind === "head") return paintHead(r, y);
  ink.save();
  ink.beginPath();
  ink.rect(gutter, y, W - gutter, r.h);
  ink.clip();
  ({ node: paintNode, store: paintStore, outside: paintOutside, job: paintJob, clock: paintClock })[r.kind](r, y);
  ink.restore();
  ink.fillStyle = C.faint;
  ink.fillRect(0, y + r.h - 1, W, 1);
  paintLabel(r, y);
}

function paintHead(r, y) {
  ink.fillStyle = C.soft;
  ink.fillRect(0, y, W, r.h);
  text(r.text, 10, y + r.h / 2 + 0.5, C.ink, undefined, "600 " + FONT);
  text(r.note, gutter + 8, y + r.h / 2 + 0.5, C.dim, W - gutter - 16);
}

function paintLabel(r, y) {
  const name = r.kind === "job" ? D.jobs[r.job].n : r.kind === "store" ? "store" : r.kind === "outside" ? OTHERS[r.other] : r.kind === "clock" ? clockName(r.clock) : nodeName(r.node);
  const bad = r.kind === "job" && (ofJob[r.job].violations.length > 0 || ofJob[r.job].linear);
  const chosen = r.kind === "job" && view.chosen && view.chosen.kind === "job" && view.chosen.at === r.job;
  if (chosen) {
    ink.fillStyle = C.shade;
    ink.fillRect(0, y, gutter - 1, r.h - 1);
  }
  const middle = r.kind === "job" || r.kind === "clock" ? y + r.h / 2 : y + (r.note || 0) + 14;
  text((bad ? "▲ " : "") + name, 10, middle, bad ? C.bad : C.ink, gutter - 16, (r.kind === "clock" || (r.kind === "job" && !chosen) ? "" : "600 ") + FONT);
  if (r.kind === "job") hits.push({ kind: "job", at: r.job, x: 0, y, w: gutter, h: r.h });
  if (r.kind === "outside") text("outside", 10, y + r.h - 8, C.dim, gutter - 16, SMALL);
  if (r.kind === "node") text("calls", 10, y + r.h - H.calls / 2 - 3, C.dim, gutter - 16, SMALL);
}

const clockName = (c) => (c.o < 0 ? "store" : nodeName(c.o) + (c.n.startsWith("node time") ? " node time" : " wall"));

// paintShades paints what went wrong with a lane for a while.
function paintShades(list, y, h) {
  for (const i of list) {
    const s = D.shades[i];
    if (!inView(s.f, s.t)) continue;
    if (s.f === s.t) {
      mark(s, i, y, h);
      continue;
    }
    const a = Math.max(x(s.f), gutter), b = Math.max(Math.min(x(s.t), W), a + 2);
    ink.fillStyle = C.shade;
    ink.fillRect(a, y, b - a, h);
    ink.fillStyle = patterns[s.k] || patterns.pause;
    ink.fillRect(a, y, b - a, h);
    ink.fillStyle = C.hatch;
    ink.fillRect(x(s.f), y, 1, h);
    ink.fillRect(x(s.t) - 1, y, 1, h);
    hits.push({ kind: "shade", at: i, x: a, y, w: b - a, h });
    plate(s.x, a + 6, y + H.note / 2 + 1, b - a - 12);
  }
}

// plate writes on a ground of its own, over a pattern.
function plate(s, px, py, most) {
  ink.font = FONT;
  const w = ink.measureText(s).width;
  if (most < 30) return;
  ink.fillStyle = C.bg;
  ink.globalAlpha = 0.86;
  ink.fillRect(px - 3, py - 7.5, Math.min(w, most) + 6, 15);
  ink.globalAlpha = 1;
  text(s, px, py, C.dim, most);
}

function mark(s, i, y, h) {
  const px = x(s.f);
  ink.fillStyle = C.mark;
  ink.fillRect(px - 0.5, y, 1.5, h);
  ink.beginPath();
  ink.moveTo(px - 5, y);
  ink.lineTo(px + 5, y);
  ink.lineTo(px, y + 7);
  ink.fill();
  hit("shade", i, px - 4, y, 8, h);
}
