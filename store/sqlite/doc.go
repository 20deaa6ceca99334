// Package sqlite keeps jobs in one SQLite file: the store for one machine with
// nothing else installed. Several processes of one host may use a file at the
// same time. docs/sqlite.md tells what that costs and what a power cut may.
//
// Every call is one transaction under the file's only write lock. It reads the
// clock once, after it has that lock; finds rows; lets package rules decide;
// and writes them back.
package sqlite
