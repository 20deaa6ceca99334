//go:build unix

package pgserver

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Binaries returns the folder of initdb and postgres, after installing them from
// the system's packages if that is needed and allowed. instead says what else
// somebody can do who has none, for the error.
func Binaries(instead string) (string, error) {
	if bin, ok := find(); ok {
		return bin, nil
	}
	advice := instead + ", or install PostgreSQL 14 or later"
	apt, err := exec.LookPath("apt-get")
	if err != nil || os.Geteuid() != 0 {
		return "", fmt.Errorf("no PostgreSQL server binaries found: %s", advice)
	}
	// Processes of several packages may come here at once: each waits for the
	// others' lock, and finds the work done.
	for _, args := range [][]string{{"update"}, {"install", "-y", "--no-install-recommends", "postgresql"}} {
		c := exec.Command(apt, append([]string{"-o", "DPkg::Lock::Timeout=300", "-o", "Acquire::Retries=2"}, args...)...)
		c.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := c.CombinedOutput(); err != nil && args[0] == "install" { // an old list may do
			return "", fmt.Errorf("apt-get install postgresql: %w: %s\n%s", err, advice, out)
		}
	}
	if bin, ok := find(); ok {
		return bin, nil
	}
	return "", fmt.Errorf("the package postgresql brought no server binaries: %s", advice)
}

// find looks where Debian keeps its versions, newest first, and then on PATH.
func find() (string, bool) {
	dirs, _ := filepath.Glob("/usr/lib/postgresql/*/bin")
	slices.SortFunc(dirs, func(a, b string) int { return version(b) - version(a) })
	if p, err := exec.LookPath("initdb"); err == nil {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			dirs = append(dirs, filepath.Dir(real))
		}
	}
	for _, dir := range dirs {
		_, err1 := os.Stat(filepath.Join(dir, "initdb"))
		_, err2 := os.Stat(filepath.Join(dir, "postgres"))
		if err1 == nil && err2 == nil {
			return dir, true
		}
	}
	return "", false
}

func version(bin string) int {
	n, _ := strconv.Atoi(strings.Split(filepath.Base(filepath.Dir(bin)), ".")[0])
	return n
}
