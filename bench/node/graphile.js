// graphile-worker, as its page on performance says and its own measurement does:
// 24 jobs at once, a local queue, completions in batches without a delay.
import { Logger, makeWorkerUtils, run, runMigrations } from "graphile-worker";
import pg from "pg";
import { pause, serve } from "./serve.js";

const task = "noop";
const concurrentJobs = 24;
const quiet = new Logger(() => (level, message) => {
  if (level === "error") console.error(message);
});

let pool, schema, utils, runner;
let added = 0;

// recorded tells the ends. There is no event of a batch that was written: the
// handlers' returns are told at once, but for the last of all, which waits
// until no job is left in the table.
function recorder(tally) {
  let ran = 0;
  const last = async () => {
    const seen = added;
    for (;;) {
      const { rows } = await pool.query(`select exists (select from ${schema}._private_jobs) as left`);
      if (ran !== added || added !== seen) break; // not the last after all
      if (!rows[0].left) break;
      await pause(2);
    }
    tally.end(1);
  };
  return () => {
    ran++;
    if (ran === added) last().catch((e) => console.error(e));
    else tally.end(1);
  };
}

serve({
  async open(ask) {
    schema = ask.schema;
    pool = new pg.Pool({ connectionString: ask.url, max: ask.connections });
    const complain = (e) => console.error(e);
    pool.on("error", complain);
    pool.on("connect", (client) => client.on("error", complain));
    await runMigrations({ pgPool: pool, schema, logger: quiet });
    utils = await makeWorkerUtils({ pgPool: pool, schema, logger: quiet });
  },
  async load(jobs) {
    await utils.addJobs(jobs.map((payload) => ({ identifier: task, payload })));
    added += jobs.length;
  },
  async add(payload) {
    added++;
    await utils.addJob(task, payload);
  },
  async work(tally, { localQueue, latency }) {
    const ended = latency ? () => {} : recorder(tally);
    const worker = { concurrentJobs, maxPoolSize: concurrentJobs + 1, completeJobBatchDelay: 0, failJobBatchDelay: 0 };
    if (localQueue > 0) worker.localQueue = { size: localQueue };
    if (localQueue > 0 && !latency) worker.localQueue.refetchDelay = { durationMs: 10 };
    runner = await run({
      pgPool: pool,
      schema,
      logger: quiet,
      noHandleSignals: true,
      preset: { worker },
      taskList: {
        [task]: (payload) => {
          if (latency) tally.start(payload.t);
          ended();
        },
      },
    });
  },
  async stop() {
    await runner?.stop();
    runner = undefined;
  },
  async close() {
    await runner?.stop();
    await utils?.release();
    await pool?.end();
  },
});
