// Time: how it is written, and where it is on the screen.

const SECOND = 1e9, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, ENDLESS = 2 ** 53 - 1;

// clock writes an instant as stories do, m:ss.mmm, with as many digits as a step
// of so many nanoseconds needs, three at least.
function clock(t, step = 1e6) {
  if (t >= ENDLESS) return "never";
  const digits = step >= 1e6 ? 3 : step >= 1e3 ? 6 : 9;
  const sign = t < 0 ? "-" : "";
  const unit = 10 ** (9 - digits);
  t = Math.floor(Math.abs(t) / unit) * unit; // as all of bwsim does
  const h = Math.floor(t / HOUR), m = Math.floor((t % HOUR) / MINUTE), s = (t % MINUTE) / SECOND;
  const ss = s.toFixed(digits).padStart(digits + 3, "0");
  return sign + (h > 0 ? h + ":" + String(m).padStart(2, "0") : String(m)) + ":" + ss;
}

// tick writes an instant at an axis whose ticks are so far apart.
function tick(t, step) {
  if (step >= SECOND) return clock(t).replace(/\.000$/, "");
  return clock(t, step);
}

// length writes how long something takes.
function length(d) {
  const a = Math.abs(d), sign = d < 0 ? "-" : "";
  const short = (x, unit) => sign + (x >= 100 ? x.toFixed(0) : x >= 10 ? x.toFixed(1) : x.toFixed(2)).replace(/\.?0+$/, (z) => (z.startsWith(".") ? "" : z)) + " " + unit;
  if (a >= HOUR) return short(a / HOUR, "h");
  if (a >= 10 * MINUTE) return short(a / MINUTE, "min");
  if (a >= SECOND) return short(a / SECOND, "s");
  if (a >= 1e6) return short(a / 1e6, "ms");
  if (a >= 1e3) return short(a / 1e3, "µs");
  return sign + a.toFixed(0) + " ns";
}

// Round distances: 1, 2 and 5 of each power of ten up to half a second, then those
// of a clock.
const steps = [];
for (let power = 1; power <= 1e8; power *= 10) steps.push(power, 2 * power, 5 * power);
for (const unit of [SECOND, MINUTE]) steps.push(...[1, 2, 5, 10, 15, 30].map((n) => n * unit));
steps.push(...[1, 2, 4, 6, 12, 24, 48, 96].map((n) => n * HOUR));

// step returns a round distance between ticks so that there are at most so many.
const step = (span, most) => steps.find((s) => span / s <= most) || steps[steps.length - 1];

const shortest = 1000; // ns in view, at least

// show brings an interval into view, within the run and a margin around it.
function show(from, to) {
  const span = Math.min(Math.max(to - from, shortest), D.length * 1.04);
  const margin = span * 0.02;
  from = Math.max(-margin, Math.min(from, D.length + margin - span));
  view.from = from;
  view.to = from + span;
  changed();
}

function zoom(factor, at = (view.from + view.to) / 2) {
  const span = (view.to - view.from) * factor;
  const share = (at - view.from) / (view.to - view.from);
  show(at - span * share, at - span * share + span);
}

const pan = (share) => show(view.from + (view.to - view.from) * share, view.to + (view.to - view.from) * share);
const fit = () => show(0, D.length);

// centre brings an instant into view, if it is not well within it.
function centre(t) {
  const span = view.to - view.from;
  if (t > view.from + span * 0.08 && t < view.to - span * 0.08) return;
  show(t - span / 2, t + span / 2);
}

// showMoment brings a violation into view with what led to it.
function showMoment(i) {
  const v = D.violations[i];
  if (!v) return;
  view.violation = i;
  const near = (list) => {
    const before = list.filter((e) => e.t <= v.t).slice(-9), after = list.filter((e) => e.t > v.t).slice(0, 2);
    return [...before, ...after].map((e) => e.t);
  };
  const own = v.j === NONE ? [] : ofJob[v.j].events.map((k) => D.events[k]);
  let times = near(own.length > 2 ? own : D.events);
  let from = Math.min(v.t, ...times), to = Math.max(v.t, ...times);
  const span = Math.max(to - from, 50e6);
  view.chosen = v.j === NONE ? { kind: "violation", at: i } : { kind: "job", at: v.j };
  view.event = D.events.findIndex((e) => e.t === v.t && e.x.startsWith("VIOLATION of " + v.i));
  relayout();
  show(Math.max(from - span * 0.12, Math.min(0, from)), Math.max(to, v.t + span * 0.12) + span * 0.1);
  reveal(v.j);
}
