package mutants

// Need says that a bug is found where a kind of fault strikes, and not found
// when all else stays and the faults of that kind are taken out. It is why the
// kind is there. At most one of the last three fields is set; with none of them
// the bug is hunted in random worlds as they are.
type Need struct {
	Fault  string // its keyword in a timeline
	Mutant string

	Alone bool   // random worlds in which the faults of this kind are the only ones: others can show the bug too
	World string // this file of the source tree
	Test  string // this test, as PACKAGE.NAME: its part "with" must fail, its part "without" must not
}

// Needs returns a need for every kind of fault, in the order in which bwsim
// lists them.
func Needs() []Need {
	return []Need{
		{Fault: "crash", Mutant: "lapse-costs-no-attempt", World: "sim/mutants/testdata/death.yaml"},
		{Fault: "start", Mutant: "lapse-costs-no-attempt", World: "sim/mutants/testdata/death.yaml"},
		{Fault: "drain", Mutant: "report-after-drain"},
		{Fault: "pause", Mutant: "answer-before-deadlines"},
		{Fault: "suspend", Mutant: "loss-in-doubt-ignored", Alone: true},
		{Fault: "step", Mutant: "leases-not-cut"},
		{Fault: "drift", Mutant: "margin-too-small", Test: "sim/bubble.TestSlowClockIsWithinTheMargin"},
		{Fault: "freeze", Mutant: "instant-leaves-no-end"},
		{Fault: "partition", Mutant: "wrong-cause", Alone: true},
		{Fault: "slow", Mutant: "already-only-for-the-last", Alone: true},
		{Fault: "on-call", Mutant: "wrong-cause", Alone: true},
		{Fault: "on-enqueue", Mutant: "enqueue-twice", Alone: true},
		{Fault: "aim", Mutant: "sweep-misses-the-instant", World: "sim/mutants/testdata/aim.yaml"},
		{Fault: "forge", Mutant: "renewal-by-key-alone", Alone: true},
		{Fault: "on-handler", Mutant: "lapsed-not-offered", Test: "sim/simtest.TestCrashInACallIsSurvived"},
		{Fault: "store-error", Mutant: "unknown-error-as-transient"},
		{Fault: "outage", Mutant: "error-sent-after-loss", Alone: true},
		{Fault: "stall", Mutant: "fence-without-expiry", Alone: true},
		{Fault: "restart", Mutant: "transient-as-fatal", Alone: true},
		{Fault: "damage", Mutant: "damage-not-seen"},
		{Fault: "hold", Mutant: "busy-costs-the-next-row"},
		{Fault: "forget", Mutant: "vanished-row-renewed"},
		{Fault: "cancel", Mutant: "cancel-beats-success"},
		{Fault: "requeue", Mutant: "requeue-keeps-base"},
		{Fault: "pause-queue", Mutant: "claim-in-paused-queue"},
		{Fault: "resume-queue", Mutant: "resume-forgets-the-waiting"},
		{Fault: "enqueue-again", Mutant: "id-free-after-a-while", Alone: true},
	}
}
