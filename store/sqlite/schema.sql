-- The tables of BackWave in a SQLite file. Their names begin with backwave_, so
-- that they can share a file with tables of the application. Instants are
-- microseconds since 1970, durations microseconds.

-- One row: the version of what follows, and the oldest version of the program
-- that can work with it.
CREATE TABLE backwave_schema (version INTEGER NOT NULL, works_with INTEGER NOT NULL) STRICT;

-- One row for every job, finished or not.
CREATE TABLE backwave_job (
  seq              INTEGER PRIMARY KEY,          -- order of enqueue
  id               BLOB    NOT NULL,             -- 16 bytes
  name             TEXT    NOT NULL,
  queue            TEXT    NOT NULL,
  max_attempts     INTEGER NOT NULL,             -- the job's own ceiling, 0 = none
  unique_key       TEXT,                         -- NULL = none
  state            INTEGER NOT NULL,             -- 1 scheduled, 3 executing, 4 succeeded, 5 cancelled, 6 dead-lettered, 7 quarantined
  due              INTEGER NOT NULL,
  attempt          INTEGER NOT NULL DEFAULT 0,
  base             INTEGER NOT NULL DEFAULT 0,   -- attempts that do not count
  unknown_names    INTEGER NOT NULL DEFAULT 0,
  cancel_requested INTEGER NOT NULL DEFAULT 0,
  worker           TEXT    NOT NULL DEFAULT '',  -- the lease; kept as it was when the attempt has ended
  claim            INTEGER NOT NULL DEFAULT 0,
  lease_until      INTEGER NOT NULL DEFAULT 0,
  lease_for        INTEGER NOT NULL DEFAULT 0,
  ceiling          INTEGER NOT NULL DEFAULT 0,
  retry_delay      INTEGER NOT NULL DEFAULT 0,
  ends             BLOB,                         -- recorded ends of attempts, as JSON
  ends_cut         INTEGER NOT NULL DEFAULT 0,   -- how many older ones were dropped
  last_err         TEXT    NOT NULL DEFAULT '',
  enqueued         INTEGER NOT NULL,
  finished         INTEGER NOT NULL DEFAULT 0,
  output           BLOB,
  progress         BLOB,
  damage           TEXT                          -- what could not be read of the row when it was last written
) STRICT;

CREATE UNIQUE INDEX backwave_job_id ON backwave_job (id);
CREATE UNIQUE INDEX backwave_job_unique ON backwave_job (unique_key) WHERE unique_key IS NOT NULL AND state <= 3;
-- What a claim takes, in its order.
CREATE INDEX backwave_job_due ON backwave_job (queue, due) WHERE state = 1;
-- What a sweep looks for.
CREATE INDEX backwave_job_lease ON backwave_job (queue, lease_until, lease_for) WHERE state = 3;

-- The highest claim number under which a worker has taken leases; kept while
-- it may have any.
CREATE TABLE backwave_worker (worker TEXT PRIMARY KEY, top INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- Apart from the job, so that a claim, a renewal and a report do not write it
-- again. No row stands for no bytes.
CREATE TABLE backwave_payload (seq INTEGER PRIMARY KEY, payload BLOB NOT NULL) STRICT;

-- Queues that are paused.
CREATE TABLE backwave_paused (queue TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

-- Results of operators' commands by request id, and the record of those that
-- changed something.
CREATE TABLE backwave_request (id TEXT PRIMARY KEY, result INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE backwave_audit (
  seq     INTEGER PRIMARY KEY,
  at      INTEGER NOT NULL,
  actor   TEXT    NOT NULL,
  request TEXT    NOT NULL,
  command TEXT    NOT NULL,                      -- cancel, force, requeue, pause, resume
  job     BLOB,
  queue   TEXT    NOT NULL DEFAULT ''
) STRICT;

INSERT INTO backwave_schema (version, works_with) VALUES (1, 1);
