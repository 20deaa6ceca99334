package main

import "strings"

// bannedImports maps a package to the reason for its ban. An entry that ends
// in a slash stands for everything below it.
var bannedImports = map[string]string{
	"C":             "foreign code",
	"crypto/rand":   "random; derive it from identity",
	"database/sql":  "I/O and goroutines",
	"hash/maphash":  "seeded per process; use hash/fnv or a mix of your own",
	"io/ioutil":     "host I/O",
	"log":           "stamps the wall clock, writes to the host",
	"log/":          "stamps the wall clock, writes to the host",
	"math/rand":     "random; derive it from identity",
	"math/rand/":    "random; derive it from identity",
	"net":           "I/O and goroutines",
	"net/":          "I/O and goroutines",
	"os":            "host I/O",
	"os/":           "host I/O",
	"path/filepath": "depends on the host; use path",
	"plugin":        "host I/O",
	"runtime":       "depends on the host and the scheduler",
	"runtime/":      "depends on the host and the scheduler",
	"sync":          "a simulated package has one thread, so no locks and pools",
	"sync/":         "a simulated package has one thread, so no atomics",
	"syscall":       "host I/O",
	"testing":       "the wall clock and the host; it belongs in tests",
	"testing/":      "the wall clock and the host; it belongs in tests",
	"unique":        "addresses",
	"unsafe":        "addresses",
	"weak":          "depends on the garbage collector",
}

// bannedImport returns why path may not be imported, or "".
func bannedImport(path string) string {
	if why, ok := bannedImports[path]; ok {
		return why
	}
	for i := range path {
		if path[i] == '/' {
			if why, ok := bannedImports[path[:i+1]]; ok {
				return why
			}
		}
	}
	return ""
}

// bannedFuncs maps functions, methods and variables, written as go/types
// prints them, to the reason for their ban. It holds whether they are called
// or passed on.
var bannedFuncs = func() map[string]string {
	bans := map[string]string{}
	add := func(format, names, why string) {
		for name := range strings.FieldsSeq(names) {
			bans[strings.Replace(format, "*", name, 1)] = why
		}
	}
	add("time.*", "Now Since Until", "the wall clock; take the time as an argument")
	add("time.*", "Sleep After AfterFunc Tick NewTimer NewTicker", "waits on the wall clock; publish a deadline")
	add("time.*", "Local LoadLocation", "the host's time zones; use UTC")
	add("(time.Time).*", "Local", "the host's time zone; use UTC")
	add("context.*", "WithTimeout WithTimeoutCause WithDeadline WithDeadlineCause", "waits on the wall clock; publish a deadline")
	add("context.*", "AfterFunc", "starts a goroutine")
	add("iter.*", "Pull Pull2", "runs its function on a goroutine of its own")
	add("maps.*", "DeleteFunc EqualFunc", "calls its function in map order, which is random")
	add("sort.*", "Slice Sort", "unstable: ties may fall differently; use slices.SortStableFunc")
	add("slices.*", "SortFunc", "unstable: ties may fall differently; use slices.SortStableFunc")
	add("slices.*", "SortedFunc", "unstable: ties may fall differently; use slices.SortedStableFunc")
	add("(reflect.Value).*", "MapKeys MapRange Seq Seq2", "may be map order, which is random")
	add("(reflect.Value).*", "Pointer UnsafePointer UnsafeAddr", "addresses")
	add("(reflect.Value).*", "Recv Send TryRecv TrySend Close", "channel operation")
	add("reflect.*", "Select", "channel operation, and a random choice")
	add("reflect.*", "MakeChan ChanOf", "channel")
	return bans
}()

// bannedBuiltins maps builtins to the reason for their ban.
var bannedBuiltins = map[string]string{
	"print":   "writes to the host",
	"println": "writes to the host",
}

// mapOrder is what yields the entries of a map in random order.
var mapOrder = map[string]bool{"maps.Keys": true, "maps.Values": true, "maps.All": true}

// sortedKeys is what may be wrapped around maps.Keys: keys are distinct, so
// any comparison that tells them all apart orders them for good.
var sortedKeys = map[string]bool{"slices.Sorted": true, "slices.SortedFunc": true, "slices.SortedStableFunc": true}

// localTime is what gives a time in the host's zone, unless it is moved to
// another one at once.
var localTime = map[string]bool{"time.Unix": true, "time.UnixMilli": true, "time.UnixMicro": true, "time.Parse": true}
