// Package timeline draws what happened in one run, simulated or recorded, as one
// HTML page that needs nothing else: no network, no fonts, no files. The same run
// gives the same bytes.
//
// A Page is the data of it. A Collector makes one of what an observer of a
// simulated world is told, OfHistory makes one of recorded calls; whoever knows
// more, such as who stopped which process when, can add to a Page before it is
// written. What a page shows and how it is used is described in docs/timeline.md.
package timeline
