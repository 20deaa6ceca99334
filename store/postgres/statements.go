package postgres

// statements are the texts of this package with the schema's name in them.
type statements struct {
	worker, turn, claim, next, repeat  string
	queues, insert, unborn, insertEach string
	renew, renewEach, finished         string
	succeed, lockJobs, lockDone, exist string
	retry, finish, flag                string
	lapsed, lapses, dispose, rearm     string
	cut, allLapses                     string
	request, remember, pause, resume   string
	holder, revive                     string
	job, jobs, unfinished, views       string
	audits                             string
	complete, enqueueTx, queueIDs      string
	succeedFree, insertOne             string
	insertPassing                      string
}

func (s *Store) prepare() statements {
	return statements{
		worker: s.sql(workerSQL), turn: s.sql(turnSQL), claim: s.sql(claimSQL), next: s.sql(nextSQL), repeat: s.sql(repeatSQL),
		queues: s.sql(queuesSQL), insert: s.sql(insertSQL + orFail), insertPassing: s.sql(insertSQL + passOver), unborn: s.sql(unbornSQL), insertEach: s.sql(insertEachSQL),
		renew: s.sql(renewSQL), renewEach: s.sql(renewEachSQL), finished: s.sql(finishedSQL),
		succeed: s.sql(succeedSQL), lockJobs: s.sql(lockJobsSQL), lockDone: s.sql(lockDoneSQL), exist: s.sql(existSQL),
		retry: s.sql(retrySQL), finish: s.sql(finishSQL), flag: s.sql(flagSQL),
		lapsed: s.sql(lapsedSQL), lapses: s.sql(lapsesSQL), dispose: s.sql(disposeSQL), rearm: s.sql(rearmSQL),
		cut: s.sql(cutSQL), allLapses: s.sql(allLapsesSQL),
		request: s.sql(requestSQL), remember: s.sql(rememberSQL), pause: s.sql(pauseSQL), resume: s.sql(resumeSQL),
		holder: s.sql(holderSQL), revive: s.sql(reviveSQL),
		job: s.sql(jobSQL), jobs: s.sql(jobsSQL), unfinished: s.sql(unfinishedSQL), views: s.sql(viewsSQL),
		audits:   s.sql(auditsSQL),
		complete: s.sql(completeSQL), enqueueTx: s.sql(enqueueTxSQL), queueIDs: s.sql(queueIDsSQL),
		succeedFree: s.sql(succeedFreeSQL), insertOne: s.sql(insertOneSQL),
	}
}
