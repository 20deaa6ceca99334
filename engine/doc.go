// Package engine runs background jobs and adds them. What users need:
//
//   - a Mux, filled by Handle: which function runs a job of which name;
//   - New and Run: worker groups that claim jobs from a store, run their
//     handlers under leases and report how they ended, until a context ends;
//   - a Client: adds jobs, and needs no engine;
//   - Health and HealthHandler: whether the groups still run.
//
// An attempt may run more than once at the same time, on two nodes, when its
// node freezes or is cut off; only one of them is recorded. A handler must
// therefore be safe to run again from its start, and may hand Job.Token to
// systems that can refuse an older writer.
//
// Nothing here catches signals, ends the process or keeps global state.
package engine
