// Package postgres keeps jobs in PostgreSQL, 14 or later, under the contract of
// package store. Many nodes share one schema of one database.
//
// Jobs that wait or run are rows of one small hot table; a claim and a renewal
// touch no column that an index mentions. Finished jobs live in a table of their
// own. Nobody waits for a row that somebody else has locked, longer than a few
// milliseconds: claims and sweeps pass it over, everything else answers Busy.
// See docs/postgres.md for the schema, the privileges and the faults.
package postgres
