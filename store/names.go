package store

var (
	renewNames   = [...]string{RenewOK: "renewed", RenewLost: "lost", RenewBusy: "busy"}
	reportNames  = [...]string{ReportApplied: "applied", ReportAlready: "already-applied", ReportStale: "stale", ReportBusy: "busy", ReportRejected: "rejected"}
	enqueueNames = [...]string{EnqueueAdded: "added", EnqueueDuplicate: "duplicate", EnqueueDiffers: "differs", EnqueueHeld: "held", EnqueueBusy: "busy"}
	doNames      = [...]string{DoChanged: "changed", DoUnchanged: "unchanged", DoNotFound: "not-found", DoRefused: "refused", DoBusy: "busy"}
)

// String returns the name used in files and logs.
func (s RenewStatus) String() string { return name(renewNames[:], int(s), "renewal answer") }

// MarshalText implements encoding.TextMarshaler.
func (s RenewStatus) MarshalText() ([]byte, error) {
	return marshalName(renewNames[:], int(s), "renewal answer")
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *RenewStatus) UnmarshalText(b []byte) error {
	i, err := parseName(renewNames[:], b, "renewal answer")
	*s = RenewStatus(i)
	return err
}

// String returns the name used in files and logs.
func (s ReportStatus) String() string { return name(reportNames[:], int(s), "report answer") }

// MarshalText implements encoding.TextMarshaler.
func (s ReportStatus) MarshalText() ([]byte, error) {
	return marshalName(reportNames[:], int(s), "report answer")
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *ReportStatus) UnmarshalText(b []byte) error {
	i, err := parseName(reportNames[:], b, "report answer")
	*s = ReportStatus(i)
	return err
}

// String returns the name used in files and logs.
func (s EnqueueStatus) String() string { return name(enqueueNames[:], int(s), "enqueue answer") }

// MarshalText implements encoding.TextMarshaler.
func (s EnqueueStatus) MarshalText() ([]byte, error) {
	return marshalName(enqueueNames[:], int(s), "enqueue answer")
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *EnqueueStatus) UnmarshalText(b []byte) error {
	i, err := parseName(enqueueNames[:], b, "enqueue answer")
	*s = EnqueueStatus(i)
	return err
}

// String returns the name used in files and logs.
func (r DoResult) String() string { return name(doNames[:], int(r), "command result") }

// MarshalText implements encoding.TextMarshaler.
func (r DoResult) MarshalText() ([]byte, error) {
	return marshalName(doNames[:], int(r), "command result")
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (r *DoResult) UnmarshalText(b []byte) error {
	i, err := parseName(doNames[:], b, "command result")
	*r = DoResult(i)
	return err
}
