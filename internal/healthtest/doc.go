// Package healthtest has no code but its tests: an engine on a real PostgreSQL
// server that is restarted, frozen or damaged under it, and what it then says
// of its health, to whom, and what becomes of its jobs.
package healthtest
