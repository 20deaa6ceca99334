// Calls of handlers in Go to the world outside: below the handler's bar from when it
// calls to when it hears, and in a lane of whom it calls when that is carried out.

const OUT = D.outside || [], OTHERS = D.others || [];
const ofRun = D.runs.map(() => []);
OUT.forEach((c, i) => {
  ofRun[c.u].push(i);
  ofJob[D.runs[c.u].j].outside.push(i);
});

// outWaits is until when its handler waits.
const outWaits = (c) => (c.r !== NONE ? c.r : c.g !== NONE ? c.g : D.runs[c.u].t);
const outLast = (c) => Math.max(c.s, c.a, c.r, c.l, c.m, c.g);
const outBad = (c) => c.f || c.l !== NONE || c.m !== NONE || c.g !== NONE;
const outColour = (c) => (outBad(c) ? C.bad : C.mark);
const outFits = (c) => jobShown(D.runs[c.u].j) && nodeShown(laneOf(D.runs[c.u].w));

// outsideRows are the lanes of those who are called in view.
function outsideRows() {
  const lanes = OTHERS.map((_, o) => ({ kind: "outside", other: o, h: H.store, called: false, calls: [] }));
  OUT.forEach((c, i) => {
    if (!outFits(c)) return;
    lanes[c.o].called = true;
    if (c.a !== NONE) lanes[c.o].calls.push(i);
  });
  for (const r of lanes) r.calls.sort((a, b) => OUT[a].a - OUT[b].a);
  return lanes.filter((r) => r.called);
}

// paintRunCalls paints below a bar what its handler calls, one call after another.
// It takes and returns where something was last painted at that height.
function paintRunCalls(run, y, lastPixel) {
  const middle = y + H.out / 2;
  for (const i of ofRun[run]) {
    const c = OUT[i], end = x(outWaits(c)), px = x(c.s), colour = outColour(c);
    if (c.s > view.to) break;
    if (end < gutter) continue;
    if (!outBad(c) && end - px < 4 && Math.round(px / 2) === lastPixel) continue;
    lastPixel = Math.round(px / 2);
    if (end - px > 8) {
      ink.globalAlpha = 0.45;
      ink.fillStyle = colour;
      ink.fillRect(px, middle - 0.5, end - px, 1);
      ink.globalAlpha = 1;
      if (c.r !== NONE) sign(c.f ? "refused" : "answered", end, middle, colour);
      else if (c.g !== NONE) sign("gave up", end, middle, colour);
    } else if (c.f) sign("refused", end + 9, middle, colour);
    sign("sent", px, middle, colour);
    if (c.l !== NONE || c.m !== NONE) sign("lost", px + 9, middle, colour);
    const left = Math.max(px, gutter) + (outBad(c) ? 18 : 8);
    if (end - px > 90) outText(OTHERS[c.o] + ": " + c.x, left, middle, colour, end - left - 10);
    if (isChosen("outside", i)) outline(px - 4, y + 1, Math.max(end - px, 0) + 8, H.out - 2);
    hit("outside", i, px - 4, y, Math.max(end - px, 0) + 8, H.out);
  }
  return lastPixel;
}

// outText writes on a ground of its own: a line goes through it.
function outText(s, px, py, colour, most) {
  ink.font = SMALL;
  if (most < 40) return;
  ink.fillStyle = C.bg;
  ink.fillRect(px - 2, py - 5, Math.min(ink.measureText(s).width, most) + 4, 10);
  text(s, px, py + 0.5, colour, most, SMALL);
}

// paintOutside paints when somebody outside carried out calls, and what it answered.
function paintOutside(r, y) {
  const seen = r.calls.filter((i) => inView(OUT[i].a, OUT[i].a)), middle = y + r.h / 2;
  let lastPixel = -1;
  seen.forEach((i, k) => {
    const c = OUT[i], px = Math.round(x(c.a));
    if (px === lastPixel && !outBad(c)) return;
    lastPixel = px;
    let right = px + 6;
    if (c.f) {
      sign("refused", px, middle, C.bad);
      right += 3;
    } else {
      ink.fillStyle = c.l !== NONE ? C.bad : C.mark;
      ink.fillRect(px - 1, middle - 6, 2, 12);
    }
    if (c.l !== NONE) { // its answer
      sign("lost", px + 9, middle, C.bad);
      right += 10;
    }
    const next = k + 1 < seen.length ? x(OUT[seen[k + 1]].a) : W;
    if (next - right > 50) text(c.x + (c.f ? " refused" : " → " + c.d), right, middle + 0.5, outColour(c), next - right - 8, SMALL);
    if (isChosen("outside", i)) outline(px - 3, middle - 8, 6, 16);
    hit("outside", i, px - 4, middle - 10, 8, 20);
  });
}

// outArrow draws a call from its handler to whom it calls and back.
function outArrow(i, scroll, strength) {
  const c = OUT[i], node = rows.find((r) => r.kind === "node" && r.node === laneOf(D.runs[c.u].w));
  const there = rows.find((r) => r.kind === "outside" && r.other === c.o);
  if (!there) return;
  const k = node ? node.runs.indexOf(c.u) : -1;
  const up = H.axis - scroll + (k < 0 ? there.y - 16 : runTop(node, k) + H.bar + H.out / 2), down = H.axis - scroll + there.y + there.h / 2;
  way({ s: c.s, a: c.a === NONE ? null : [c.a], r: c.r, l: c.l, late: c.m }, up, down, outBad(c) ? C.bad : C.focus, strength);
}

// outEnd says in a few words what became of a call.
function outEnd(c) {
  const end = c.f ? "REFUSED" : c.a !== NONE ? c.d : c.l !== NONE ? "✕ the call is lost" : "has not arrived";
  return end + (c.a !== NONE && c.l !== NONE ? ", ✕ the answer is lost" : c.m !== NONE ? ", ✕ the answer comes too late" : "");
}

function outWords(c) {
  const r = D.runs[c.u], to = OTHERS[c.o];
  return [attemptName(r) + " calls " + to + ": " + c.x, "on " + workerName(r.w) + ", call " + c.n + " of the attempt", "left " + clock(c.s),
    c.a === NONE ? "never arrived" : c.f ? "✕ refused " + clock(c.a) + ", without effect" : "carried out " + clock(c.a) + ": " + c.d,
    c.r === NONE ? "never answered" : "answered " + clock(c.r) + ", after " + length(c.r - c.s),
    c.l !== NONE ? "✕ " + (c.a === NONE ? "the call" : "the answer") + " is lost at " + clock(c.l) : null,
    c.g !== NONE ? "✕ given up " + clock(c.g) + ": " + c.y : null,
    c.m !== NONE ? "✕ an answer comes " + clock(c.m) + ", and nobody waits for it" : null,
    c.h ? "fault: " + c.h : null].filter(Boolean);
}

// outLines tells the calls of a handler in order, each as a link.
function outLines(run) {
  const most = 50, all = ofRun[run];
  const lines = all.slice(0, most).map((i) => {
    const c = OUT[i];
    return [at(c.s), " calls ", link(OTHERS[c.o] + ": " + c.x, () => choose({ kind: "outside", at: i }, true)), " → ", el("span", { className: outBad(c) ? "bad" : "" }, outEnd(c))];
  });
  if (all.length > most) lines.push(["… and " + some(all.length - most, "call") + " more"]);
  return lines;
}

// nextOutside chooses the next call to the world outside.
function nextOutside() {
  const all = OUT.map((_, i) => i).filter((i) => outFits(OUT[i]));
  if (all.length === 0) return announce("no handler calls the world outside");
  const now = view.chosen && view.chosen.kind === "outside" ? all.indexOf(view.chosen.at) : -1;
  choose({ kind: "outside", at: all[(now + 1) % all.length] }, true);
}
