// Package pgtest gives tests a PostgreSQL server. It uses the one that
// BW_TEST_POSTGRES names, else starts a throw-away server from the binaries it
// finds on this machine, else installs them from the system's packages if it
// may. A test that can have none fails, and says what to do. A test that wants
// to stop its server or to freeze it gets one of its own.
package pgtest
