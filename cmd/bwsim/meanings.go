package main

// meanings says, for each name under which something is reported, what a
// violation would mean to whoever runs BackWave in production.
func meanings() map[string]string {
	return map[string]string{
		"effect-once":           "Two workers both got their outcome recorded for one attempt, or a finished job finished again: a payment booked twice in the books of the queue itself, children released twice, figures that do not add up.",
		"accounting":            "A claim or an end went missing from the books. Jobs die before they have had all their attempts or live beyond them, and an attempt number that is used again lets an old worker pass for a new one at every system that fences by it.",
		"ceiling":               "A job is given up too early or never, or comes back at the wrong time: a poison job loops for ever, a retry storm falls on a service that asked for rest.",
		"legal":                 "A job went from one state to another that the table does not allow, or was moved by a call that must not move it. Pages and alerts that rely on the states are wrong.",
		"final":                 "A job that was reported as finished changed afterwards. Whoever acted on the result, a dependent job, a customer's mail, acted on something that is no longer so.",
		"fence":                 "A worker that had lost its lease wrote all the same: the outcome of a zombie replaced that of the worker that holds the job now, or kept a dead lease alive.",
		"exclusive":             "One job was leased to two workers at once. Both run it, and neither will be told to stop.",
		"due":                   "A job ran before its time: a reminder comes early, a retry does not rest.",
		"served":                "A worker got a job of a queue that it does not serve, and most likely has no handler or no credentials for it.",
		"paused":                "An operator paused a queue, was told that it is paused, and jobs of it still began. The broken service behind it goes on being called.",
		"no-claim-after-cancel": "A job that was cancelled ran again, or its running attempt did not end as cancelled.",
		"one-start":             "A handler was started twice on one lease, or on a lease that the node had to take for lost: the same work ran twice side by side without a crash or a partition to excuse it.",
		"pool":                  "A worker ran more handlers at once than it was allowed to: memory, connections and rate limits that were sized by PoolSize are exceeded.",
		"told":                  "A handler was not told in time that it had lost its lease, was cancelled or must shut down, or was told the wrong cause. An isolated node goes on working on what a peer has taken over.",
		"silence":               "A pump that had given up, or was shut down, still wrote to the store.",
		"health":                "The health endpoint lies: it shows a halted group as running or the other way round, and restarts are missed or made for nothing.",
		"detection":             "A crashed node's jobs wait longer than promised until a peer takes them over, or for ever; or a living worker's lease is taken from it.",
		"margin":                "Renewals come too late. Two lost heartbeats in a row, which the defaults promise to survive, cost a healthy worker its lease, and long handlers run twice.",
		"polling":               "A free worker lets due work lie: jobs wait although slots are free, for longer than the idle backoff allows.",
		"neighbours":            "One locked or unreadable row stopped others that were sent in the same call: one bad job stalls a queue.",
		"obligations":           "The result of a finished handler was forgotten although its lease still lived. The work was done, and is done again.",
		"not-lost":              "A job that a client was told is enqueued is gone. Nobody will notice but the customer.",
		"already-applied":       "A worker that repeats a report after a lost answer is told that something else was recorded, or is told so too late, and logs and metrics blame it for a lost lease.",
		"unique":                "Two live jobs hold the same unique key: what was to be in flight once at most is in flight twice.",
		"audit":                 "The audit shows an action that changed nothing, or does not show one that did, or shows it twice. Who did what can no longer be told.",
		"history":               "The history of a job's attempts is not what happened: ends are missing, counted wrongly or cut while a late report could still ask for them.",
		linearizable:            "What clients were told cannot be explained by any order in which the calls took effect: somebody was told something about a job that was never true.",
		expectation:             "The run went another way than the author of the scenario says it must. The invariants may all hold: look at the story, then decide whether the engine or the scenario is wrong.",
		progress:                "A loop without rest: a pump that asks the store again and again at the same instant, one processor and the database at full load.",
		"finishes":              "After all trouble was over, a job that could finish did not, or took far longer than its handlers, retries and the queue before it explain. Nothing is wrong with any row, and yet the work is not done: the queue looks healthy and does not drain.",
		"once":                  "A job ran twice, or failed, although nothing had gone wrong: no crash, no partition, no slow network to excuse it.",
		"promptly":              "Due jobs wait although workers have free slots, or finished ones are recorded late: latency that no load explains.",
		crash:                   "A panic got out of the engine, the store or the simulator. In production the process would have died, and its jobs would run again on a peer once their leases lapse.",
	}
}
