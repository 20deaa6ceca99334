// What ties it together: what is chosen, and when to paint.

let due = false;

// changed has the view painted before the screen is next drawn.
function changed() {
  if (due) return;
  due = true;
  requestAnimationFrame(() => {
    due = false;
    paint();
    paintMap();
    $("span").value = clock(Math.max(0, view.from), view.to - view.from < 1e7 ? 1e3 : 1e6) + " – " + clock(Math.min(D.length, view.to), view.to - view.from < 1e7 ? 1e3 : 1e6) + " (" + length(view.to - view.from) + ")";
  });
}

const announce = (words) => { $("now").textContent = words; };

function changedChoice() {
  view.tab = "details";
  windows.length = 0;
  panel();
  violationBar();
  if (view.chosen) announce(words(view.chosen).slice(0, 4).join(" · "));
  changed();
}

// choose shows all that is known of one thing; null chooses nothing.
function choose(what, move = false) {
  view.chosen = what;
  if (what === null) view.event = -1;
  if (move && what && what.kind === "call") centre(D.calls[what.at].s);
  if (move && what && what.kind === "outside") centre(OUT[what.at].s);
  if (what && what.kind === "job") reveal(what.at);
  changedChoice();
  if (what === null) announce("nothing is chosen");
}

function openTab(name) {
  view.tab = name;
  windows.length = 0;
  panel();
}

// goTo makes an event the current one.
function goTo(i) {
  view.event = i;
  const e = D.events[i];
  centre(e.t);
  if (e.j !== NONE) reveal(e.j);
  announce(clock(e.t, view.to - view.from < 1e7 ? 1e3 : 1e6) + "  " + e.x);
  if (view.tab === "events") openTab("events");
  changed();
}

// stepEvent goes to the next event of those in view, or the one before. Without a
// current one it begins in the middle of the view.
function stepEvent(by) {
  const ok = (i) => eventShown(D.events[i]);
  let i = view.event;
  if (i < 0) {
    const middle = (view.from + view.to) / 2;
    i = D.events.findIndex((e) => e.t >= (by > 0 ? view.from : middle));
    if (i < 0) i = by > 0 ? D.events.length - 1 : D.events.length;
    if (by > 0) i--;
  }
  for (i += by; i >= 0 && i < D.events.length; i += by) if (ok(i)) return goTo(i);
  announce(by > 0 ? "no later event" : "no earlier event");
}

function nextFenced() {
  const all = D.calls.filter(fenced);
  if (all.length === 0) return announce("no outcome was fenced");
  const now = view.chosen && view.chosen.kind === "call" ? D.calls[view.chosen.at] : null;
  const k = now ? (all.indexOf(now) + 1) % all.length : 0;
  choose({ kind: "call", at: callAt.get(all[k].i) }, true);
}

function turnViolation(by) {
  const n = D.violations.length;
  showMoment((view.violation + by + n) % n);
  changedChoice();
}

function nextViolation() {
  if (D.violations.length === 0) return announce("nothing is violated");
  const seen = view.chosen !== null && inView(D.violations[view.violation].t, D.violations[view.violation].t);
  if (seen) return turnViolation(1);
  showMoment(view.violation);
  changedChoice();
}

function violationBar() {
  const v = D.violations[view.violation];
  $("violation").hidden = !v;
  if (!v) return;
  $("vcount").textContent = view.violation + 1 + " / " + D.violations.length;
  $("vname").textContent = "▲ violates " + v.i + (v.e ? ", as expected" : "");
  $("vwhen").textContent = "at " + clock(v.t) + (v.v ? " (event " + v.v.toLocaleString("en") + ")" : "");
  $("vmessage").textContent = v.x;
  $("vrule").textContent = v.s ? "Rule: " + v.s : "";
}

function applyFilter() {
  setFilter($("filter").value);
  relayout();
  chart.scrollTop = 0;
  if (view.tab !== "details") openTab(view.tab);
  announce((view.jobs ? view.jobs.size : D.jobs.length) + " of " + D.jobs.length + " jobs, " + (view.nodes ? view.nodes.size : D.nodes.length) + " of " + D.nodes.length + " nodes");
  changed();
}

function filterTo(words) {
  $("filter").value = words;
  applyFilter();
}

function zoomToJob(j) {
  const times = ofJob[j].events.map((i) => D.events[i].t);
  if (times.length === 0) return;
  const from = Math.min(...times), to = Math.max(...times), margin = Math.max((to - from) * 0.06, 1e6);
  show(from - margin, to + margin);
  reveal(j);
}

const themes = ["", "light", "dark"], system = matchMedia("(prefers-color-scheme: dark)");

function setTheme(name) {
  view.theme = name;
  document.documentElement.dataset.theme = name || (system.matches ? "dark" : "light");
  const words = "Theme: " + (name || "as the system");
  $("theme").setAttribute("aria-label", words);
  $("theme").textContent = { "": "◐", light: "○", dark: "●" }[name];
  dress();
  if (view.tab === "details" && view.chosen === null) panel();
  changed();
  return words;
}

function nextTheme() { announce(setTheme(themes[(themes.indexOf(view.theme) + 1) % themes.length])); }

// where tells scripts at which point of the chart something is drawn.
function where(kind, at) {
  paint();
  const h = hits.find((o) => o.kind === kind && o.at === at);
  if (!h) return null;
  const box = canvas.getBoundingClientRect();
  const left = h.x + h.w <= gutter ? h.x : Math.max(h.x, gutter);
  return { x: box.left + left + Math.min(h.w / 2, 12), y: box.top + h.y + h.h / 2 };
}

function begin() {
  $("title").textContent = D.title;
  $("facts").textContent = (D.facts || []).join(" · ") + (D.epoch ? " · begins " + D.epoch : "");
  $("facts").title = $("facts").textContent;
  $("verdict").textContent = { held: "✓ held", violated: "▲ violated", undecided: "? undecided" }[D.verdict] || D.verdict;
  $("verdict").classList.add(D.verdict);
  const tabs = [["details", "Details"], ["events", "Events"], ["jobs", "Jobs"], D.linear ? ["linear", "Order of calls"] : null, D.plan || D.repeat ? ["plan", "Plan"] : null].filter(Boolean);
  $("tabs").append(...tabs.map(([id, name]) => el("button", { type: "button", role: "tab", id: "tab-" + id, "aria-controls": "panel", on: () => openTab(id) }, name)));
  $("names").append(...[...D.nodes.slice(0, 50), ...D.jobs.slice(0, 200).map((j) => j.n)].map((n) => el("option", { value: n })));
  size();
  setTheme("");
  system.addEventListener("change", () => { if (view.theme === "") setTheme(""); });
  relayout();
  fit();
  const first = D.violations.findIndex((v) => !v.e);
  if (D.violations.length > 0) showMoment(Math.max(0, first));
  changedChoice();
  if (D.violations.length === 0) announce("The whole run is in view. Press ? for the keys.");
  window.timeline = { data: D, view, where, show, paint, rows: () => rows, gutter: () => gutter, painted: () => hits.length }; // for scripts and tests
}

begin();
