// The side of a peer in the protocol of peer.go: a line of JSON each way.
//
//   asked      {"id":1,"do":"open",…}
//   answered   {"id":1}  or  {"id":1,"error":"…"}
//   told       {"finished":3,"started":[nanoseconds,…]}
//
// "finished" are jobs whose ends are recorded since the last such line;
// "started" are the times from an enqueue to its handler, if they were wanted.
import { createInterface } from "node:readline";

const say = (o) => process.stdout.write(JSON.stringify(o) + "\n");

// now is the wall clock in nanoseconds, as the bench counts them.
export const now = () => Math.round((performance.timeOrigin + performance.now()) * 1e6);

export const pause = (ms) => new Promise((go) => setTimeout(go, ms));

// Tally gathers what happens within a millisecond into one line.
class Tally {
  constructor() {
    this.finished = 0;
    this.started = [];
    this.armed = false;
  }
  arm() {
    if (this.armed) return;
    this.armed = true;
    setTimeout(() => {
      this.armed = false;
      say({ finished: this.finished, started: this.started });
      this.finished = 0;
      this.started = [];
    }, 1);
  }
  end(n) {
    this.finished += n;
    this.arm();
  }
  start(sent) {
    this.started.push(now() - sent);
    this.arm();
  }
}

// atOnce calls f n times, from so many loops.
async function atOnce(n, loops, f) {
  let next = 0;
  const loop = async () => {
    while (next++ < n) await f();
  };
  await Promise.all(Array.from({ length: loops }, loop));
}

// serve carries out what is asked of peer, which has open(ask), load(jobs),
// add(job), work(tally, ask), stop() and close(), until the input ends.
export function serve(peer) {
  const verbs = {
    open: (ask) => peer.open(ask),
    load: ({ n, fill }) => peer.load(Array.from({ length: n }, () => ({ t: now(), p: fill }))),
    add: ({ sent, fill }) => peer.add({ t: sent, p: fill }),
    addEach: ({ n, loops, fill }) => atOnce(n, loops, () => peer.add({ t: now(), p: fill })),
    work: (ask) => peer.work(new Tally(), ask),
    stop: () => peer.stop(),
  };
  const lines = createInterface({ input: process.stdin });
  lines.on("line", async (line) => {
    const ask = JSON.parse(line);
    try {
      await verbs[ask.do](ask);
      say({ id: ask.id });
    } catch (e) {
      say({ id: ask.id, error: String(e?.stack ?? e) });
    }
  });
  lines.on("close", async () => {
    await Promise.race([peer.close(), pause(2000)]);
    process.exit(0);
  });
}
