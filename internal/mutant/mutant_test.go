package mutant

import (
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const toy = "testdata/toy"

// planted lists bugs in functions of every shape: two in one function, and one
// whose old text is broken over lines in the source.
var planted = []Mutant{
	{Name: "limit-included", File: "shape/shape.go", Func: "(*Box).Admit", Old: "n < b.Limit", New: "n <= b.Limit"},
	{Name: "no-limit", File: "shape/shape.go", Func: "Box.Admit", Old: "n < b.Limit", New: "true || n < b.Limit"},
	{Name: "last-only", File: "shape/shape.go", Func: "Total", Old: "sum += n", New: "sum = n"},
	{Name: "smallest", File: "shape/shape.go", Func: "Largest", Old: "e > best", New: "e < best"},
	{Name: "whisper", File: "shape/shape.go", Func: "Pair.String", Old: `strings.ToUpper(fmt.Sprint(p.Key, "=", p.Value))`, New: `fmt.Sprint(p.Key, "=", p.Value)`},
	{Name: "zero-is-positive", File: "main.go", Func: "sign", Old: "n > 0", New: "n >= 0"},
	{Name: "untouched", File: "main.go", Func: "touch", Old: "b.Limit++", New: ""},
}

// told is what the toy prints, by the first word of each line.
var told = map[string]string{
	"admit":   "admit true false",
	"total":   "total 6",
	"largest": "largest 9 b",
	"pair":    "pair K=7",
	"sign":    "sign -1 0 1",
	"touched": "touched 4",
}

// changes is what each bug changes in it.
var changes = map[string]string{
	"":                 "",
	"limit-included":   "admit true true",
	"no-limit":         "admit true true",
	"last-only":        "total 3",
	"smallest":         "largest 2 a",
	"whisper":          "pair k=7",
	"zero-is-positive": "sign -1 1 1",
	"untouched":        "touched 3",
}

func TestEachMutantBreaksWhatItSays(t *testing.T) {
	bin, err := Build(toy, t.TempDir(), planted, ".")
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range changes {
		t.Run("mutant="+name, func(t *testing.T) {
			t.Setenv(Variable, name)
			out, err := exec.Command(bin).Output()
			if err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(string(out)), "\n")
			if len(lines) != len(told) {
				t.Fatalf("the toy printed %d lines, want %d:\n%s", len(lines), len(told), out)
			}
			for _, line := range lines {
				word, _, _ := strings.Cut(line, " ")
				want := told[word]
				if strings.HasPrefix(change, word+" ") {
					want = change
				}
				if line != want {
					t.Errorf("the toy printed %q, want %q", line, want)
				}
			}
		})
	}
	t.Run("unknown name", func(t *testing.T) {
		t.Setenv(Variable, "no-such-bug")
		err := exec.Command(bin).Run()
		exit, ok := errors.AsType[*exec.ExitError](err)
		if !ok || exit.ExitCode() != 3 || len(planted)+1 != len(changes) {
			t.Errorf("a name that no mutant has: got %v, want exit code 3", err)
		}
	})
}

func TestBuildTestPlantsBugsUnderTests(t *testing.T) {
	bin, err := BuildTest(toy, t.TempDir(), planted, "./shape")
	if err != nil {
		t.Fatal(err)
	}
	for name, fails := range map[string]bool{"": false, "last-only": true, "smallest": false} {
		t.Setenv(Variable, name)
		out, err := exec.Command(bin).CombinedOutput()
		if (err != nil) != fails || strings.Contains(string(out), "Total is 3, want 6") != fails {
			t.Errorf("mutant %q: the tests end with %v and print\n%s", name, err, out)
		}
	}
}

func TestMutantThatDoesNotCompileIsNamed(t *testing.T) {
	ms := append(planted[:3:3],
		Mutant{Name: "unused", File: "shape/shape.go", Func: "Largest", Old: "best := list[0]", New: "best, worst := list[0], list[0]"},
		Mutant{Name: "unknown", File: "main.go", Func: "sign", Old: "return 0", New: "return nought"})
	// Packages are compiled in the order of their imports, so each is seen alone.
	for _, c := range []struct {
		ms   []Mutant
		want string
	}{
		{ms[:4], "mutant unused: shape/shape.go: func Largest: does not compile: declared and not used: worst"},
		{ms[4:], "mutant unknown: main.go: func sign: does not compile: undefined: nought"},
	} {
		if _, err := Build(toy, t.TempDir(), c.ms, "."); err == nil || err.Error() != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
}

func TestBuildTellsOtherErrorsOfTheCompiler(t *testing.T) {
	_, err := Build(toy, t.TempDir(), planted, "./nowhere")
	if err == nil || !strings.Contains(err.Error(), "go build ./nowhere") || !strings.Contains(err.Error(), "directory not found") {
		t.Errorf("got %v, want the words of the go command", err)
	}
}

func TestCheck(t *testing.T) {
	if err := Check(toy, planted); err != nil {
		t.Error(err)
	}
	shape := func(fn, old, new string) Mutant {
		return Mutant{Name: "m", File: "shape/shape.go", Func: fn, Old: old, New: new}
	}
	for _, c := range []struct {
		name string
		m    Mutant
		want string
	}{
		{"no such text", shape("Total", "sum -= n", "x"), "mutant m: shape/shape.go: func Total: old text occurs 0 times in the body, want once: sum -= n"},
		{"text of a neighbour", shape("Total", "e > best", "x"), "old text occurs 0 times"},
		{"text of the signature", shape("Total", "ns ...int", "x"), "old text occurs 0 times"},
		{"ambiguous text", shape("Total", "n", "x"), "old text occurs 7 times"},
		{"no such function", shape("Sum", "a", "b"), "func Sum: the file has no such function"},
		{"a method, not a function", shape("Admit", "n < b.Limit", "b"), "the file has no such function"},
		{"no such receiver", shape("(*Crate).Admit", "n < b.Limit", "b"), "func (*Crate).Admit: the file has no such function"},
		{"bad syntax", shape("Total", "sum += n", "sum +="), "the changed body is no Go"},
		{"recover", shape("guarded", "recover()", "recover(1)"), "it calls recover"},
		{"recover deeper down", shape("Fields", "twice := 1", "twice := 2"), ""},
		{"init", shape("init", "_ = 2", "_ = 3"), "cannot be called"},
		{"no old text", shape("Total", " ", "x"), "no old text"},
		{"no change", shape("Total", "sum += n", "sum  +=\nn"), "the new text is the old one"},
		{"no such file", Mutant{Name: "m", File: "shape/none.go", Func: "F", Old: "a", New: "b"}, filepath.Join(toy, "shape", "none.go")},
		{"a file elsewhere", Mutant{Name: "m", File: "../x.go", Func: "F", Old: "a", New: "b"}, "below the root"},
		{"a test file", Mutant{Name: "m", File: "x_test.go", Func: "F", Old: "a", New: "b"}, "that is no test"},
		{"a bad name", Mutant{Name: "M 1", File: "x.go", Func: "F", Old: "a", New: "b"}, `name "M 1": want lower-case`},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Check(toy, []Mutant{c.m})
			switch {
			case c.want == "" && err != nil:
				t.Errorf("got %v, want no error", err)
			case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want …%s…", err, c.want)
			}
		})
	}
}

func TestCheckListsEveryMutantAtFault(t *testing.T) {
	bad := planted[0]
	bad.Old = "nothing of the kind"
	bad.Name = "bad"
	err := Check(toy, []Mutant{planted[0], planted[0], bad, planted[1]})
	if err == nil || strings.Count(err.Error(), "\n") != 1 ||
		!strings.Contains(err.Error(), "limit-included: shape/shape.go: func (*Box).Admit: another mutant has this name") ||
		!strings.Contains(err.Error(), "mutant bad: ") {
		t.Errorf("got %v, want two faults", err)
	}
}
