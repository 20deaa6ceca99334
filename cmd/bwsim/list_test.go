package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEveryListHasTextAndJSON(t *testing.T) {
	for _, l := range listings() {
		t.Run(l.kind, func(t *testing.T) {
			rows, err := l.rows()
			if err != nil || len(rows) == 0 {
				t.Fatalf("%d rows, error %v", len(rows), err)
			}
			code, stdout, _ := call("list", l.kind)
			if code != exitHeld || strings.Count(stdout, "\n") != len(rows) {
				t.Errorf("exit code %d, want %d lines:\n%s", code, len(rows), stdout)
			}
			code, stdout, _ = call("list", l.kind, "--format", "json")
			var got []any
			if err := json.Unmarshal([]byte(stdout), &got); err != nil || code != exitHeld || len(got) != len(rows) {
				t.Errorf("exit code %d, error %v, want %d values:\n%s", code, err, len(rows), stdout)
			}
			for _, r := range rows {
				if r.name == "" || (r.text == "" && l.kind != "situations") {
					t.Errorf("a row is empty: %+v", r)
				}
			}
		})
	}
}

func TestEveryInvariantIsExplained(t *testing.T) {
	m := meanings()
	for _, i := range invariants() {
		if m[i.Name] == "" {
			t.Errorf("meanings has no text for %s", i.Name)
		}
		delete(m, i.Name)
	}
	for name := range m {
		t.Errorf("meanings has a text for %s, which is no invariant", name)
	}
}

func TestExplainListsTheBugsThatWereCaught(t *testing.T) {
	file := filepath.Join(t.TempDir(), "caught.jsonl")
	text := `{"mutant":"m1","file":"a.go","func":"F","breaks":"the fence","caught_by":["fence","due"],"seeds":3,"first":"seed 3"}
{"mutant":"m2","file":"a.go","func":"F","breaks":"the clock","caught_by":["due"],"seeds":3,"first":"seed 3"}
{"summary":true,"mutants":2,"caught":2}
`
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	_, stdout, _ := call("explain", "fence", "--mutants", file)
	if !strings.Contains(stdout, "m1: the fence (a.go, F)") || strings.Contains(stdout, "m2") {
		t.Errorf("got\n%s", stdout)
	}
}
