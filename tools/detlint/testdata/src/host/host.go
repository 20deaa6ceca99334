// Package host imports what talks to the host.
package host

import (
	_ "bytes"
	_ "database/sql" // want `import of database/sql: I/O and goroutines`
	_ "io"
	_ "log"       // want `import of log: stamps the wall clock`
	_ "log/slog"  // want `import of log/slog: stamps the wall clock`
	_ "net"       // want `import of net: I/O and goroutines`
	_ "net/netip" // want `import of net/netip: I/O and goroutines`
	_ "os"        // want `import of os: host I/O`
	_ "os/exec"   // want `import of os/exec: host I/O`
	_ "path"
	_ "path/filepath" // want `import of path/filepath: depends on the host`
	_ "runtime"       // want `import of runtime: depends on the host`
	_ "runtime/debug" // want `import of runtime/debug: depends on the host`
	_ "syscall"       // want `import of syscall: host I/O`
	_ "testing"       // want `import of testing: the wall clock`
)

func say(x int) {
	println(x) // want `println: writes to the host`
	print("x") // want `print: writes to the host`
}

func named(print func(int)) { print(1) }
