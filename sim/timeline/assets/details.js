// The side, and the tip at the mouse: what is known of one thing, in words.

// el makes an element; children are elements or text, and text is never markup.
function el(tag, props = {}, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(props)) {
    if (k === "on") e.addEventListener("click", v);
    else if (k in e && k !== "list") e[k] = v;
    else e.setAttribute(k, v);
  }
  e.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined));
  return e;
}

const link = (words, on) => el("button", { type: "button", className: "link", on }, words);
const at = (t) => link(clock(t), () => { centre(t); announce("at " + clock(t)); });
const jobLink = (j) => link(D.jobs[j].n, () => choose({ kind: "job", at: j }));
const pairs = (...list) => el("dl", { className: "pairs" }, list.filter(Boolean).map(([k, v]) => [el("dt", {}, k), el("dd", {}, v)]));
const some = (n, what) => n.toLocaleString("en") + " " + what + (n === 1 ? "" : "s");
const attemptName = (o) => D.jobs[o.j].n + "#" + o.a;

// words says in lines what something drawn is; the first is its name.
function words({ kind, at: i }) {
  if (kind === "run") {
    const r = D.runs[i];
    return [attemptName(r) + (r.g ? " (as far as its calls tell)" : ""), "on " + workerName(r.w), clock(r.f) + " – " + clock(r.t) + ", " + length(r.t - r.f),
      ...(r.d || []).map((d) => "told to stop at " + clock(d.t) + ": " + d.y), r.e, r.x ? "FENCED: its outcome was stale" : null].filter(Boolean);
  }
  if (kind === "lease" || kind === "view") return leaseWords(kind, (kind === "lease" ? D.leases : D.views)[i]);
  if (kind === "call") return callWords(D.calls[i]);
  if (kind === "outside") return outWords(OUT[i]);
  if (kind === "shade") {
    const s = D.shades[i];
    return [s.x, s.f === s.t ? "at " + clock(s.f) : clock(s.f) + " – " + clock(s.t) + ", " + length(s.t - s.f)];
  }
  if (kind === "violation") return ["▲ " + D.violations[i].i, "at " + clock(D.violations[i].t), D.violations[i].x];
  if (kind === "job") return [D.jobs[i].n, "click for all its attempts"];
  if (kind === "clock") return [i.clock.n, aheadWords(ahead(i.clock, timeAt(view.mouse)))];
  return [];
}

function leaseWords(kind, l) {
  const end = kind === "lease"
    ? (l.t === NONE ? "not disposed of" : "ends at " + clock(l.t) + " as " + l.e + (l.n ? " → " + l.n : ""))
    : (l.t === NONE ? "still believed at the end" : "no longer believed from " + clock(Math.min(l.t, l.u)) + (l.e ? ": " + l.e : ""));
  return [attemptName(l) + (kind === "lease" ? ", as the store knows it" : ", as " + nodeName(laneOf(l.w)) + " believes it"), "of " + workerName(l.w) + ", claim " + l.c,
    "from " + clock(l.f) + ", runs out at " + clock(l.u), some((l.r || []).length, "renewal") + ((l.r || []).length > 0 ? ", last at " + clock(l.r[l.r.length - 1].t) : ""), end];
}

function callWords(c) {
  const out = [c.k + (c.z ? ", idle" : "") + " of " + workerName(c.w) + " (call " + c.i + ")", "sent " + clock(c.s)];
  const guess = c.g ? " (by its answer)" : "";
  out.push((c.a || []).length > 0 ? "applied " + c.a.map((t) => clock(t)).join(" and ") + guess : "never applied");
  out.push(c.r !== NONE ? "answered " + clock(c.r) + ", after " + length(c.r - c.s) : "never answered");
  if (c.l !== NONE) out.push("✕ " + (c.a ? "the reply" : "the request") + " is lost at " + clock(c.l));
  if (c.h) out.push("fault: " + c.h);
  if (c.e) out.push("fails: " + c.e);
  for (const r of (c.o || []).slice(0, 12)) {
    const name = r.j === NONE ? "" : D.jobs[r.j].n + (r.a ? "#" + r.a : "");
    out.push((r.x ? "FENCED " : "") + r.q + " " + name + (r.d ? ": " + r.d : ""));
  }
  if ((c.o || []).length > 12) out.push("… and " + (c.o.length - 12) + " more");
  return out;
}

function showTip(h, mx, my) {
  const tip = $("tip");
  tip.hidden = h === null;
  if (h === null) return;
  const [first, ...rest] = words(h);
  tip.replaceChildren(el("b", {}, first), ...rest.map((r) => el("span", { className: "dim" }, r)));
  const w = tip.offsetWidth, t = tip.offsetHeight;
  const aside = h.kind === "call" || h.kind === "outside" ? 70 : 14; // the way of a call is to be seen
  tip.style.left = Math.max(4, mx + aside + w > innerWidth ? mx - aside - w : mx + aside) + "px";
  tip.style.top = (my + 18 + t > innerHeight ? Math.max(4, my - t - 10) : my + 18) + "px";
}

// panel shows what the chosen tab is about.
function panel() {
  const p = $("panel");
  p.scrollTop = 0;
  p.setAttribute("aria-labelledby", "tab-" + view.tab);
  p.replaceChildren(...({ details, events: eventList, jobs: jobList, linear, plan }[view.tab]()));
  for (const t of $("tabs").children) {
    const on = t.id === "tab-" + view.tab;
    t.setAttribute("aria-selected", on);
    t.tabIndex = on ? 0 : -1;
  }
  windows.forEach((w) => w(true));
}

function details() {
  const c = view.chosen;
  if (c === null) return overview();
  const back = el("div", { className: "actions" }, el("button", { type: "button", on: () => choose(null) }, "Close"));
  if (c.kind === "job") return [...jobDetails(c.at), back];
  const [first, ...rest] = words(c);
  const about = c.kind === "call" ? [...new Set((D.calls[c.at].o || []).map((r) => r.j))].filter((j) => j !== NONE)
    : c.kind === "run" ? [D.runs[c.at].j] : c.kind === "outside" ? [D.runs[OUT[c.at].u].j] : c.kind === "lease" ? [D.leases[c.at].j] : c.kind === "view" ? [D.views[c.at].j] : [];
  return [el("h2", {}, first), el("ul", { className: "plain" }, rest.map((r) => el("li", { className: /^(FENCED|✕|fails)/.test(r) ? "bad" : "" }, r))),
    c.kind === "run" && ofRun[c.at].length > 0 ? [el("h2", {}, "Calls to the world outside"), el("ul", { className: "plain" }, outLines(c.at).map((l) => el("li", {}, l)))] : null,
    about.length > 0 ? el("p", {}, "Job: ", about.slice(0, 20).flatMap((j, k) => [k > 0 ? ", " : "", jobLink(j)])) : null, back].flat().filter(Boolean);
}

function overview() {
  return [
    D.story ? el("p", {}, D.story.trim().replace(/\n/g, " ")) : null,
    el("p", { className: "dim", style: "margin-top:6px" }, [some(D.nodes.length, "node"), some(D.jobs.length, "job"), some(D.runs.length, "handler run"), some(D.calls.length, "call"), OUT.length > 0 ? some(OUT.length, "call") + " to the world outside" : null, some(D.events.length, "event")].filter(Boolean).join(", ")),
    ...(D.notes || []).map((t) => el("p", { className: "dim", style: "margin-top:6px" }, t)),
    el("h2", {}, "Legend"), legend(),
    el("p", { className: "dim", style: "margin-top:8px" }, "Click a job, a bar, a lease or a call for all that is known of it. Press ? for the keys."),
  ].filter(Boolean);
}

// jobDetails tells all attempts of a job and how they ended.
function jobDetails(j) {
  const job = D.jobs[j], states = job.s || [], end = states.length > 0 ? states[states.length - 1] : null;
  const out = [el("h2", {}, job.n), pairs(["state", end ? [end.s + " since ", at(end.t)] : "never arrived"], job.q ? ["queue", job.q] : null, job.id !== job.n ? ["id", el("span", { className: "mono" }, job.id)] : null)];
  const broken = ofJob[j].violations;
  for (const i of broken.slice(0, 3)) out.push(el("p", { className: "bad", style: "margin-top:6px" }, "▲ violates " + D.violations[i].i + " at ", at(D.violations[i].t)), el("p", {}, D.violations[i].x));
  if (broken.length > 3) out.push(el("p", { className: "dim" }, "and " + some(broken.length - 3, "violation") + " more"));
  out.push(el("div", { className: "actions" },
    el("button", { type: "button", on: () => filterTo("job:" + job.n) }, "Only this job"),
    el("button", { type: "button", on: () => zoomToJob(j) }, "Zoom to it")));
  out.push(el("h2", {}, "Attempts"));
  const all = attempts(j);
  if (all.length === 0) out.push(el("p", { className: "dim" }, "none"));
  for (const a of all) out.push(attemptDetails(a));
  out.push(el("h2", {}, "In words"), windowed(() => ofJob[j].events.map((i) => eventItem(i))));
  return out;
}

function attemptDetails(a) {
  const lines = [];
  for (const i of a.leases) {
    const l = D.leases[i];
    lines.push(["claimed ", at(l.f), ", lease until " + clock(l.u) + ((l.r || []).length > 0 ? " after " + some(l.r.length, "renewal") : "")]);
    lines.push(l.t === NONE ? ["has not ended"] : ["ended as ", el("b", {}, l.e), " at ", at(l.t), l.n ? " → " + l.n : ""]);
  }
  for (const i of a.runs) {
    const r = D.runs[i];
    lines.push(["handler " + (r.g ? "(guessed) " : ""), at(r.f), " – ", at(r.t), ": " + r.e]);
    for (const d of r.d || []) lines.push(["told to stop at ", at(d.t), ": " + d.y]);
    lines.push(...outLines(i));
    if (r.x) lines.push([el("span", { className: "bad" }, "FENCED: its outcome was stale and changed nothing")]);
  }
  for (const i of a.views) {
    const l = D.views[i];
    lines.push([el("span", { className: "dim" }, nodeName(laneOf(l.w)) + " believed in it until " + clock(viewEnd(l)))]);
  }
  return el("div", { className: "attempt", style: "border-color:" + attemptColour(a.attempt)[0] }, el("b", {}, "#" + a.attempt), " " + workerName(a.worker), el("ul", { className: "plain" }, lines.map((l) => el("li", {}, l))));
}

const eventItem = (i) => ({ t: D.events[i].t, text: D.events[i].x, current: i === view.event, on: () => goTo(i) });

function eventList() {
  return [windowed(() => D.events.flatMap((e, i) => (eventShown(e) ? [eventItem(i)] : [])))];
}

function jobList() {
  return [windowed(() => jobsInOrder().map((j) => {
    const s = D.jobs[j].s || [], n = attempts(j).length, bad = ofJob[j].violations.length > 0;
    return { text: (bad ? "▲ " : "") + D.jobs[j].n + " · " + (s.length > 0 ? s[s.length - 1].s : "never arrived") + " · " + some(n, "attempt"), current: view.chosen && view.chosen.kind === "job" && view.chosen.at === j, on: () => choose({ kind: "job", at: j }) };
  }))];
}

// windows are the long lists on show; each makes the rows that can be seen.
const windows = [];

function windowed(items) {
  const list = items(), height = 24;
  if (list.length === 0) return el("p", { className: "dim" }, "nothing");
  const item = (it, style) => el("button", { type: "button", on: it.on, title: it.text, "aria-current": String(!!it.current), style },
    it.t === undefined ? null : el("span", { className: "t" }, clock(it.t)), it.text);
  if (list.length <= 300) { // all of it, in full
    windows.push((fresh) => { if (fresh && view.tab !== "details") $("panel").querySelector("[aria-current=true]")?.scrollIntoView({ block: "center" }); });
    return el("div", { className: "rows whole" }, list.map((it) => item(it, "")));
  }
  const box = el("div", { className: "rows" });
  box.style.height = list.length * height + "px";
  let first = -1, last = -1;
  const draw = () => {
    const p = $("panel"), top = p.scrollTop - box.offsetTop;
    const a = Math.max(0, Math.floor(top / height) - 5), b = Math.min(list.length, Math.ceil((top + p.clientHeight) / height) + 5);
    if (a === first && b === last) return;
    [first, last] = [a, b];
    box.replaceChildren(...list.slice(a, b).map((it, k) => item(it, "top:" + (a + k) * height + "px")));
  };
  const current = list.findIndex((it) => it.current);
  windows.push((fresh) => {
    if (fresh && current >= 0 && view.tab !== "details") $("panel").scrollTop = Math.max(0, box.offsetTop + current * height - $("panel").clientHeight / 2);
    draw();
  });
  return box;
}

// linear tells the longest order of a job's calls that makes sense, and the first
// call that then does not.
function linear() {
  const line = (c) => [link("call " + c.c, () => callAt.has(c.c) && choose({ kind: "call", at: callAt.get(c.c) }, true)), ": " + c.x];
  return (D.linear || []).flatMap((l) => [
    el("h2", {}, l.j === NONE ? "A job" : jobLink(l.j)), el("p", {}, "These calls could have taken effect in this order:"),
    el("ol", { className: "order" }, (l.o || []).map((c) => el("li", {}, line(c)))),
    el("div", { className: "stuck" }, el("p", { className: "bad" }, "✕ Then this one could not:"), el("p", {}, line(l.n)), el("p", {}, "because " + l.b)),
    ...(l.u || []).map((t) => el("p", { className: "dim" }, "Without an answer, sent before it or after: " + t)),
  ]);
}

function plan() {
  const copy = (t) => el("button", { type: "button", on: (e) => { navigator.clipboard && navigator.clipboard.writeText(t); e.target.textContent = "Copied"; } }, "Copy");
  return [
    D.repeat ? el("h2", {}, "To make this run again") : null, D.repeat ? el("pre", {}, D.repeat) : null, D.repeat ? el("div", { className: "actions" }, copy(D.repeat)) : null,
    D.plan ? el("h2", {}, "Plan") : null, D.plan ? el("pre", { id: "plan" }, D.plan) : null, D.plan ? el("div", { className: "actions" }, copy(D.plan)) : null,
  ].filter(Boolean);
}
