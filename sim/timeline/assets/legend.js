// The legend: each sign beside what it means, painted by the same hands.

function legend() {
  const box = el("div", { className: "legend" });
  const entry = (draw, words) => {
    const c = el("canvas", {}), scale = devicePixelRatio || 1, g = c.getContext("2d");
    c.width = 46 * scale;
    c.height = 16 * scale;
    g.scale(scale, scale);
    draw(g);
    box.append(c, el("span", {}, words));
  };
  const swatch = (pattern) => (g) => {
    g.fillStyle = C.shade;
    g.fillRect(0, 1, 46, 14);
    g.fillStyle = patterns[pattern];
    g.fillRect(0, 1, 46, 14);
  };
  const with_ = (draw) => (g) => { // the painters paint on the chart's canvas: lend them another
    const kept = ink;
    ink = g;
    ink.textBaseline = "middle";
    draw();
    ink = kept;
  };
  entry(with_(() => [1, 2, 3].forEach((a, k) => { ink.fillStyle = attemptColour(a)[0]; ink.fillRect(k * 16, 2, 14, 12); text(String(a), k * 16 + 4, 8.5, attemptColour(a)[1], undefined, SMALL); })), "a handler at work, by attempt");
  entry(with_(() => { ink.fillStyle = attemptColour(1)[0]; ink.fillRect(0, 4, 26, 9); ink.fillRect(10, 1, 1.5, 3); ink.strokeStyle = C.store; ink.strokeRect(26.5, 4.5, 18, 8); ink.fillStyle = patterns.lapsed; ink.fillRect(26, 4, 19, 9); ink.fillStyle = C.bg; ink.fillRect(10, 4, 1.5, 9); }), "a lease in the store with a renewal; hatched: run out, and nobody has disposed of it");
  entry(with_(() => { ink.strokeStyle = attemptColour(1)[0]; ink.lineWidth = 1.5; ink.strokeRect(0.75, 4, 44, 9); }), "the same as its node believes it");
  entry(with_(() => { sign("sent", 6, 8, C.mark); ink.fillStyle = C.mark; ink.fillRect(6, 7.5, 30, 1); sign("answered", 38, 8, C.mark); }), "a call: sent, answered; point at it for its way");
  entry(with_(() => sign("lost", 22, 8, C.bad)), "a request or reply that got lost");
  entry(with_(() => sign("fenced", 22, 8, C.bad)), "fenced: an outcome or a renewal came from a lease that was over");
  if (OUT.length > 0) {
    entry(with_(() => { sign("sent", 6, 8, C.mark); ink.fillStyle = C.mark; ink.fillRect(6, 7.5, 30, 1); sign("answered", 38, 8, C.mark); }), "below a bar: the handler calls the world outside, and hears from it");
    entry(with_(() => sign("refused", 22, 8, C.bad)), "such a call that was refused");
    entry(with_(() => { sign("sent", 6, 8, C.bad); ink.fillStyle = C.bad; ink.fillRect(6, 7.5, 32, 1); sign("gave up", 38, 8, C.bad); }), "one that the handler gave up, without an answer");
  }
  entry(swatch("down"), "a node that is down; the store in an outage");
  entry(swatch("pause"), "a node, or the store, that stands still");
  entry(swatch("partition"), "a node that is cut off");
  entry(swatch("error"), "the store answers with errors");
  entry(swatch("hold"), "a row that somebody holds");
  return box;
}
