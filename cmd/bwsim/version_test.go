package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestVersion(t *testing.T) {
	var out, errs bytes.Buffer
	if code := bwsim(t.Context(), []string{"--version"}, &out, &errs); code != exitHeld || errs.Len() > 0 {
		t.Errorf("it ended with %d and said %q", code, errs.String())
	}
	if text := out.String(); !strings.HasPrefix(text, "bwsim ") || strings.Count(text, "\n") != 1 {
		t.Errorf("printed was %q", text)
	}
}
