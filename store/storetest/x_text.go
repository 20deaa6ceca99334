package storetest

import (
	"strings"
	"unicode/utf8"

	"backwave/store"
)

var texts = []testCase{
	{"X8", "NUL and invalid UTF-8 become U+FFFD, in text of every kind", func(f *fixture) {
		for _, o := range []store.Outcome{store.Failure{Error: "a\x00b\xffc"}, store.Discard{Error: "a\x00b\xffc"}, store.Undecodable{Error: "a\x00b\xffc"}} {
			id := f.job()
			f.report(f.take(), o)
			j := f.read(id)
			f.want([]string{j.LastErr, j.Ends[0].Error}, []string{"a\uFFFDb\uFFFDc", "a\uFFFDb\uFFFDc"})
			f.do(store.Cancel{Job: id})
		}
	}},
	{"X8", "text of up to 16 KiB is kept whole", func(f *fixture) {
		id := f.job()
		text := strings.Repeat("é", 8192)
		f.ends(f.take(), store.Failure{Error: text}, store.Scheduled)
		f.want(f.read(id).LastErr, text)
	}},
	{"X8", "1 MiB of text is cut at a rune boundary with a mark", func(f *fixture) {
		for _, text := range []string{strings.Repeat("é", 524_288), "x" + strings.Repeat("é", 524_288), strings.Repeat("\xff", 1_048_576), strings.Repeat("日", 349_526)} {
			id := f.job()
			f.ends(f.take(), store.Discard{Error: text}, store.DeadLettered)
			got := f.read(id).LastErr
			if len(got) > 16_384 || !utf8.ValidString(got) || !strings.HasSuffix(got, "(cut)") {
				f.Fatalf("%d bytes, valid %v, ending in %q", len(got), utf8.ValidString(got), got[max(0, len(got)-16):])
			}
			if r, _ := utf8.DecodeRuneInString(text); r != utf8.RuneError && (len(got) < 16_300 || strings.ContainsRune(got, utf8.RuneError)) {
				f.Fatalf("of %d bytes %d were kept, broken rune: %v", len(text), len(got), strings.ContainsRune(got, utf8.RuneError))
			}
			f.want(f.read(id).Ends[0].Error, got)
		}
	}},
}
