//go:build unix

package nemesis

import (
	"testing"

	"backwave/history"
	"backwave/store"
)

// scene is a run of one job that went well; tests spoil it.
type scene struct {
	ask     *asked
	job     *store.Job // nil: the store does not have it
	effects []int
	reports []store.ReportRow
	status  store.ReportStatus
}

func wellWent(name string) *scene {
	id := store.NewJobID(1, 2, 3)
	end := func(attempt int, kind store.EndKind, to store.State) store.End {
		return store.End{Attempt: attempt, Claim: uint64(10 * attempt), Kind: kind, To: to}
	}
	s := &scene{
		ask: &asked{NewJob: store.NewJob{ID: id, Name: name}, acknowledged: true},
		job: &store.Job{ID: id, Name: name, State: store.Succeeded, Attempt: 2, Ends: []store.End{
			end(1, store.EndLapse, store.Scheduled), end(2, store.EndSuccess, store.Succeeded),
		}},
		effects: []int{2}, status: store.ReportApplied,
	}
	if name == rest {
		s.effects = nil
	}
	if name != tx {
		s.reports = []store.ReportRow{{Key: store.LeaseKey{Job: id, Attempt: 2, Claim: 20}, Outcome: store.Success{}}}
	}
	return s
}

// judge returns the checks that found something.
func (s *scene) judge() map[string]int {
	r := &run{report: &Report{More: map[string]int{}, Ends: map[string]int{}}}
	v := &verdict{run: r, jobs: map[store.JobID]*store.Job{}, effects: map[store.JobID][]int{s.ask.ID: s.effects}, log: history.NewLog()}
	if s.job != nil {
		v.jobs[s.job.ID] = s.job
	}
	if len(s.reports) > 0 {
		v.log.Sent(1, 1, "n1", &store.Report{Worker: "n1", Rows: s.reports})
		v.log.Answered(2, 1, &store.Reported{Rows: make([]store.ReportAnswer, len(s.reports))})
		v.log.Records()[1].Reply.(*store.Reported).Rows[0].Status = s.status
	}
	v.rows(&enqueuer{jobs: []*asked{s.ask}})
	v.recorded()
	out := map[string]int{}
	for _, c := range Checks() {
		if n := r.report.Found(c.Name); n > 0 {
			out[c.Name] = n
		}
	}
	return out
}

func TestWhatWentWellHolds(t *testing.T) {
	for _, name := range []string{rest, plain, tx, long} {
		if got := wellWent(name).judge(); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	s := wellWent(plain)
	s.effects = []int{1, 2} // plain writes may double
	if got := s.judge(); len(got) > 0 {
		t.Errorf("a doubled plain write: %v", got)
	}
	s = wellWent(rest)
	s.ask.acknowledged, s.job, s.reports = false, nil, nil
	if got := s.judge(); len(got) > 0 {
		t.Errorf("an enqueue that nobody acknowledged: %v", got)
	}
}

func TestWhatWentWrongIsFound(t *testing.T) {
	for _, c := range []struct {
		what, name string
		spoil      func(*scene)
		want       string
	}{
		{"a lost job", rest, func(s *scene) { s.job, s.reports = nil, nil }, checkLost},
		{"effects of no job", plain, func(s *scene) { s.ask.acknowledged, s.job, s.reports = false, nil, nil }, checkLost},
		{"a job that has not ended", rest, func(s *scene) { s.job.State, s.job.Ends, s.reports = store.Executing, s.job.Ends[:1], nil }, checkHealing},
		{"an end is missing", rest, func(s *scene) { s.job.Ends = s.job.Ends[1:] }, checkAccounting},
		{"a gap", rest, func(s *scene) { s.job.Attempt, s.job.EndsCut = 3, 1 }, checkAccounting},
		{"a second success", tx, func(s *scene) { s.job.Ends[0].Kind, s.effects = store.EndSuccess, []int{2} }, checkAccounting},
		{"it gave up", rest, func(s *scene) { s.job.State = store.DeadLettered }, checkAccounting},
		{"a doubled transaction", tx, func(s *scene) { s.effects = []int{2, 2} }, checkTransaction},
		{"a transaction of another attempt", tx, func(s *scene) { s.effects = []int{1} }, checkTransaction},
		{"a lost transaction", tx, func(s *scene) { s.effects = nil }, checkTransaction},
		{"a lost plain write", plain, func(s *scene) { s.effects = []int{1} }, checkPlain},
		{"a write by who writes nothing", rest, func(s *scene) { s.effects = []int{2} }, checkPlain},
		{"a success that nobody reported", rest, func(s *scene) { s.reports = nil }, checkRecorded},
		{"an outcome that is not recorded", rest, func(s *scene) {
			s.reports = append([]store.ReportRow{{Key: store.LeaseKey{Job: s.job.ID, Attempt: 1, Claim: 10}, Outcome: store.Failure{}}}, s.reports...)
		}, checkRecorded},
	} {
		s := wellWent(c.name)
		c.spoil(s)
		if got := s.judge(); got[c.want] == 0 {
			t.Errorf("%s: got %v, want %s", c.what, got, c.want)
		}
	}
}

func TestFindingsAreBounded(t *testing.T) {
	r := &run{report: &Report{More: map[string]int{}}}
	for range 3 * mostFindings {
		r.find(checkPlain, "", "again")
	}
	if len(r.report.Findings) != mostFindings || r.report.Found(checkPlain) != 3*mostFindings {
		t.Errorf("%d listed of %d", len(r.report.Findings), r.report.Found(checkPlain))
	}
}
