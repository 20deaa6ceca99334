// Package archtest keeps the shape of the module: a test reads the imports of
// every Go file and compares them with a table of the arrows that may run
// between packages, and each dependency on another module with the decision
// records that approve it. It parses files and runs no go command, so that its
// result is never served stale from the test cache.
package archtest
