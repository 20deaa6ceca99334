package store

import (
	"strings"
	"unicode/utf8"
)

// CleanText makes a failure text fit to be stored anywhere: NUL bytes and
// invalid UTF-8 become U+FFFD, and what is over limit bytes is cut at a rune
// boundary, with a mark that says so within the limit.
func CleanText(s string, limit int) string {
	const mark = "… (cut)"
	dirty := s
	if len(dirty) > limit { // nothing beyond limit can survive: do not clean 300 MB to keep 16 kB
		dirty = dirty[:limit]
	}
	clean := strings.ReplaceAll(strings.ToValidUTF8(dirty, "\uFFFD"), "\x00", "\uFFFD")
	if len(clean) <= limit && len(s) <= limit {
		return clean
	}
	n := max(0, min(limit-len(mark), len(clean)))
	for n > 0 && n < len(clean) && !utf8.RuneStart(clean[n]) {
		n--
	}
	return clean[:n] + mark
}
