package engine

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"backwave/store"
)

// chance is the source of what must not repeat: ids of jobs and identities of
// workers. It may be used concurrently whatever its reader.
type chance struct {
	mu sync.Mutex
	r  io.Reader
}

func newChance(r io.Reader) *chance {
	if r == nil {
		r = rand.Reader //nolint:forbidigo // identities must differ between processes; tests inject their own source
	}
	return &chance{r: r}
}

// words fills out with random words.
func (c *chance) words(out []uint64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := make([]byte, 8*len(out))
	if _, err := io.ReadFull(c.r, b); err != nil {
		return fmt.Errorf("engine: random source: %w", err)
	}
	for i := range out {
		out[i] = binary.BigEndian.Uint64(b[8*i:])
	}
	return nil
}

// jobID returns the id of a job made at now.
func (c *chance) jobID(now time.Time) (store.JobID, error) {
	var w [2]uint64
	if err := c.words(w[:]); err != nil {
		return store.JobID{}, err
	}
	return store.NewJobID(now.UnixMilli(), w[0], w[1]), nil
}

// worker returns the identity of the i-th pump of a group for one start. A
// reader can tell where it runs; the random word makes it new.
func (c *chance) worker(host string, pid int, group string, i int) (string, error) {
	var w [1]uint64
	if err := c.words(w[:]); err != nil {
		return "", err
	}
	return fmt.Sprintf("%s/%d/%s/%d/%016x", short(host), pid, short(group), i, w[0]), nil
}

// short makes s a legal part of a worker's name, of at most 64 bytes.
func short(s string) string {
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "?"), "\x00", "?")
	if len(s) <= 64 {
		return s
	}
	n := 64
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
