// Package travel goes through the runs of a scenario: event by event, to a
// breakpoint, with one fault less or later, or with another seed from some event
// on. A run is decided by its scenario and seed, so that each of its moments can
// be had again as often as anybody wants to look at it.
package travel
