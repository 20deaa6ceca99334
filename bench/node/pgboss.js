// pg-boss. Drained by its calls fetch and complete, many jobs each, which its
// own workers do too but never sooner than half a second after a batch that was
// not full. For latency it is those workers, woken by notifications.
import { PgBoss } from "pg-boss";
import { pause, serve } from "./serve.js";

const queue = "noop";
let boss;
let loops = [];
let working = false;

// drain fetches and completes until it is told to stop.
async function drain(tally, batchSize) {
  while (working) {
    const jobs = await boss.fetch(queue, { batchSize });
    if (jobs.length === 0) {
      await pause(2);
      continue;
    }
    const done = await boss.complete(queue, jobs.map((j) => j.id));
    tally.end(done.affected);
  }
}

serve({
  async open({ url, schema, connections, latency }) {
    const notify = latency === true; // off unless asked for, as it ships
    boss = new PgBoss({ connectionString: url, schema, max: connections, useListenNotify: notify });
    boss.on("error", (e) => console.error(e));
    await boss.start();
    await boss.createQueue(queue, { notify });
  },
  load: (jobs) => boss.insert(queue, jobs.map((data) => ({ data }))),
  add: (data) => boss.send(queue, data),
  async work(tally, { batch, loops: n, latency }) {
    if (latency) {
      await boss.work(queue, { localConcurrency: n, batchSize: batch, burstWhenBatchFull: true }, async (jobs) => {
        for (const job of jobs) tally.start(job.data.t);
      });
      return;
    }
    working = true;
    loops = Array.from({ length: n }, () => drain(tally, batch));
    for (const loop of loops) loop.catch((e) => { console.error(e); process.exit(1); });
  },
  async stop() {
    working = false;
    await Promise.all(loops);
    await boss.offWork(queue).catch(() => {}); // it has none when it was drained
  },
  close: async () => boss?.stop({ graceful: false }),
});
