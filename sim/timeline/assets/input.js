// What people do: mouse, touch, keys.

const chart = $("chart");

function hitAt(px, py) {
  for (let i = hits.length - 1; i >= 0; i--) {
    const h = hits[i];
    if (px >= h.x && px <= h.x + h.w && py >= h.y && py <= h.y + h.h) return { kind: h.kind, at: h.at };
  }
  return null;
}

const here = (e) => {
  const box = canvas.getBoundingClientRect();
  return [e.clientX - box.left, e.clientY - box.top];
};

const fingers = new Map();
let drag = null;

chart.addEventListener("pointerdown", (e) => {
  const [px, py] = here(e);
  if (px > W) return; // the scroll bar
  fingers.set(e.pointerId, px);
  drag = { px, py, from: view.from, to: view.to, moved: false, scroll: chart.scrollTop, mouse: e.pointerType === "mouse", wide: fingers.size === 2 ? spread() : 0 };
  if (e.pointerType === "mouse") chart.setPointerCapture(e.pointerId);
});

const spread = () => {
  const [a, b] = [...fingers.values()];
  return Math.max(10, Math.abs(a - b));
};

chart.addEventListener("pointermove", (e) => {
  const [px, py] = here(e);
  if (fingers.has(e.pointerId)) fingers.set(e.pointerId, px);
  if (drag && fingers.size === 2) {
    const [a, b] = [...fingers.values()];
    const factor = drag.wide / spread(), span = (drag.to - drag.from) * factor, share = ((a + b) / 2 - gutter) / (W - gutter);
    const middle = drag.from + (drag.to - drag.from) * share;
    drag.moved = true;
    return show(middle - span * share, middle - span * share + span);
  }
  if (drag && fingers.has(e.pointerId)) {
    if (Math.abs(px - drag.px) + Math.abs(py - drag.py) > 4) drag.moved = true;
    if (!drag.moved) return;
    chart.style.cursor = "grabbing";
    const shift = ((drag.px - px) / (W - gutter)) * (drag.to - drag.from);
    if (drag.mouse) chart.scrollTop = drag.scroll + drag.py - py;
    showTip(null);
    return show(drag.from + shift, drag.to + shift);
  }
  view.mouse = px;
  const h = hitAt(px, py);
  const same = (a, b) => a === b || (a && b && a.kind === b.kind && a.at === b.at);
  if (!same(h, view.hover)) view.hover = h;
  chart.style.cursor = h ? "pointer" : "default";
  if (e.pointerType === "mouse") showTip(h, e.clientX, e.clientY);
  changed();
});

function release(e) {
  fingers.delete(e.pointerId);
  const was = drag;
  drag = fingers.size > 0 ? drag : null;
  chart.style.cursor = "default";
  return was;
}

chart.addEventListener("pointerup", (e) => {
  const was = release(e);
  if (!was || was.moved) return;
  const [px, py] = here(e);
  const h = hitAt(px, py);
  if (h && h.kind === "violation") return showMoment(h.at), changedChoice();
  choose(h && h.kind === "clock" ? null : h);
});
chart.addEventListener("pointercancel", release);
chart.addEventListener("pointerleave", () => {
  view.mouse = view.hover = null;
  showTip(null);
  changed();
});
chart.addEventListener("dblclick", (e) => zoom(0.4, timeAt(here(e)[0])));
chart.addEventListener("scroll", () => changed());

// The wheel zooms at the mouse; with shift, or sideways, it moves; over the names
// it scrolls.
chart.addEventListener("wheel", (e) => {
  const [px] = here(e);
  if (px < gutter && !e.ctrlKey) return;
  e.preventDefault();
  const unit = e.deltaMode === 1 ? 16 : 1, dx = e.deltaX * unit, dy = e.deltaY * unit;
  if (e.shiftKey || Math.abs(dx) > Math.abs(dy)) return pan((dx || dy) / W);
  zoom(Math.exp(Math.max(-120, Math.min(120, dy)) * 0.0022), timeAt(Math.max(px, gutter)));
}, { passive: false });

// The map moves what is in view.
const mapTime = (e) => {
  const box = map.getBoundingClientRect();
  return ((e.clientX - box.left) / box.width) * D.length;
};
let onMap = false;
const mapTo = (e) => {
  const half = (view.to - view.from) / 2;
  show(mapTime(e) - half, mapTime(e) + half);
};
map.addEventListener("pointerdown", (e) => { onMap = true; map.setPointerCapture(e.pointerId); mapTo(e); });
map.addEventListener("pointermove", (e) => { if (onMap) mapTo(e); });
map.addEventListener("pointerup", () => { onMap = false; });
map.addEventListener("wheel", (e) => { e.preventDefault(); zoom(Math.exp(e.deltaY * 0.0022), mapTime(e)); }, { passive: false });

const keys = [
  ["← →", "move in time; with Shift by a whole view"], ["↑ ↓, Page Up, Page Down", "scroll"], ["+ −", "zoom in and out"], ["0", "the whole run"],
  ["Home, End", "to the beginning, to the end"], ["n p", "next, previous event"], ["v", "the next violation"], ["f", "next fenced outcome"], ["l", "to the leases"],
  ...(OUT.length > 0 ? [["o", "next call to the world outside"]] : []),
  ["/", "filter by job or node"], ["i", "show idle calls"], ["t", "theme: system, light, dark"], ["Esc", "close, choose nothing"], ["?", "this help"],
];

document.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || $("help").open) return;
  const typing = e.target.matches("input:not([type=checkbox]), textarea");
  if (e.key === "Escape" && typing) { e.target.blur(); chart.focus(); return; }
  if (typing) return;
  const inside = e.target.closest("#panel, #tabs, #violation"); // there arrows and Home scroll
  const moves = { ArrowLeft: () => pan(e.shiftKey ? -0.9 : -0.15), ArrowRight: () => pan(e.shiftKey ? 0.9 : 0.15), ArrowUp: () => chart.scrollBy(0, -60), ArrowDown: () => chart.scrollBy(0, 60),
    PageUp: () => chart.scrollBy(0, -chart.clientHeight * 0.8), PageDown: () => chart.scrollBy(0, chart.clientHeight * 0.8),
    Home: () => show(0, view.to - view.from), End: () => show(D.length - (view.to - view.from), D.length) };
  const acts = { "+": () => zoom(0.6), "=": () => zoom(0.6), "-": () => zoom(1 / 0.6), _: () => zoom(1 / 0.6), 0: fit, n: () => stepEvent(1), p: () => stepEvent(-1), v: nextViolation, f: nextFenced, l: toLeases, o: nextOutside,
    "/": () => { $("filter").focus(); $("filter").select(); }, i: () => $("idle").click(), t: nextTheme, "?": openHelp, Escape: () => choose(null) };
  const act = acts[e.key] || (inside ? null : moves[e.key]);
  if (!act) return;
  e.preventDefault();
  act();
});

$("tabs").addEventListener("keydown", (e) => {
  const by = { ArrowLeft: -1, ArrowRight: 1 }[e.key];
  if (!by) return;
  const all = [...$("tabs").children];
  const next = all[(all.findIndex((t) => t.id === "tab-" + view.tab) + by + all.length) % all.length];
  next.click();
  next.focus();
});

$("panel").addEventListener("scroll", () => windows.forEach((w) => w(false)));
$("filter").addEventListener("input", applyFilter);
$("idle").addEventListener("change", () => { view.idle = $("idle").checked; relayout(); changed(); announce(view.idle ? "idle calls are shown" : "idle calls are hidden"); });
$("zoomin").onclick = () => zoom(0.6);
$("zoomout").onclick = () => zoom(1 / 0.6);
$("fit").onclick = fit;
$("evnext").onclick = () => stepEvent(1);
$("evprev").onclick = () => stepEvent(-1);
$("theme").onclick = nextTheme;
$("helpopen").onclick = openHelp;
$("vshow").onclick = () => { showMoment(view.violation); changedChoice(); };
$("vnext").onclick = () => turnViolation(1);
$("vprev").onclick = () => turnViolation(-1);
new ResizeObserver(() => { relayout(); changed(); }).observe(chart);

function openHelp() {
  $("help").replaceChildren(el("h2", {}, "Keys"), el("dl", {}, keys.map(([k, v]) => [el("dt", {}, el("kbd", {}, k)), el("dd", {}, v)])),
    el("p", {}, "Mouse: drag to move, wheel to zoom, Shift and wheel to move, wheel over the names to scroll. The strip above shows the whole run; click or drag there. Two fingers zoom."),
    el("p", { style: "margin:8px 0" }, "Filter: words that are part of the names of jobs or nodes; job: or node: before a word says which is meant."),
    el("button", { type: "button", on: () => $("help").close() }, "Close"));
  $("help").showModal();
}
