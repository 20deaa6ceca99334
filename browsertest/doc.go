// Package browsertest tests pages in a real browser, headless. It is a module of
// its own, so that nobody who imports the engine gets a driver of browsers.
package browsertest
