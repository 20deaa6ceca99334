package main

import (
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/typeutil"
)

// newAnalyzer returns the analyzer for the files whose base name matches only.
func newAnalyzer(only *regexp.Regexp) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: "detlint",
		Doc:  "find what could make two runs of one seed differ",
		Run: func(pass *analysis.Pass) (any, error) {
			for _, file := range pass.Files {
				if looksAt(only, pass.Fset.Position(file.FileStart).Filename) {
					look(pass, file)
				}
			}
			return nil, nil
		},
	}
}

// looksAt reports whether the file called name is to be looked at.
func looksAt(only *regexp.Regexp, name string) bool {
	return only.MatchString(filepath.Base(name)) && !strings.HasSuffix(name, "_test.go")
}

// look reports what is wrong in one file.
func look(pass *analysis.Pass, file *ast.File) {
	f := &finder{judge: newJudge(pass, file), info: pass.TypesInfo, tamed: map[ast.Node]bool{}}
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue // does not compile, so it never comes here
		}
		if why := bannedImport(path); why != "" {
			f.reportf(spec.Pos(), "import of %s: %s", path, why)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		f.visit(n)
		return true
	})
	f.finish()
}

// finder walks one file.
type finder struct {
	*judge
	info  *types.Info
	tamed map[ast.Node]bool // names whose randomness the expression around them takes away
}

func (f *finder) visit(n ast.Node) {
	switch n := n.(type) {
	case *ast.GoStmt:
		f.reportf(n.Pos(), "go statement: the order of goroutines is random")
	case *ast.SelectStmt:
		f.reportf(n.Pos(), "select: a random choice among channels")
	case *ast.SendStmt:
		f.reportf(n.Arrow, "channel send: goroutines meet here")
	case *ast.ChanType:
		f.reportf(n.Pos(), "channel type: goroutines meet here")
	case *ast.UnaryExpr:
		if n.Op == token.ARROW {
			f.reportf(n.Pos(), "channel receive: goroutines meet here")
		}
	case *ast.RangeStmt:
		f.visitRange(n)
	case *ast.BinaryExpr:
		if n.Op == token.ADD || n.Op == token.SUB {
			f.fused(n, n.X, n.Y)
		}
	case *ast.AssignStmt:
		if n.Tok == token.ADD_ASSIGN || n.Tok == token.SUB_ASSIGN {
			f.fused(n.Lhs[0], n.Rhs[0])
		}
	case *ast.CallExpr:
		f.visitCall(n)
	case *ast.Ident:
		f.visitName(n)
	}
}

func (f *finder) visitRange(n *ast.RangeStmt) {
	t := f.info.TypeOf(n.X)
	switch {
	case can(t, isMap):
		f.reportf(n.Pos(), "range over a map: the order is random; range over slices.Sorted(maps.Keys(m))")
	case can(t, isChan):
		f.reportf(n.Pos(), "range over a channel: goroutines meet here")
	}
}

// fused reports products among the operands of a floating-point sum.
func (f *finder) fused(sum ast.Expr, operands ...ast.Expr) {
	tv := f.info.Types[sum]
	if tv.Value != nil || !can(tv.Type, isFloat) {
		return
	}
	for _, x := range operands {
		x = ast.Unparen(x)
		if minus, ok := x.(*ast.UnaryExpr); ok && minus.Op == token.SUB {
			x = ast.Unparen(minus.X)
		}
		if p, ok := x.(*ast.BinaryExpr); ok && p.Op == token.MUL && f.info.Types[p].Value == nil {
			f.reportf(p.Pos(), "x*y+z on floats is fused on some machines and rounds differently: write float64(x*y)+z")
		}
	}
}

// visitCall comes before the names within the call are visited.
func (f *finder) visitCall(call *ast.CallExpr) {
	callee := typeutil.Callee(f.info, call)
	f.visitFormat(call, callee)
	if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok && (sel.Sel.Name == "UTC" || sel.Sel.Name == "In") {
		if inner, ok := ast.Unparen(sel.X).(*ast.CallExpr); ok && localTime[f.fullName(inner)] {
			f.tame(inner)
		}
	}
	outer := f.fullName(call)
	if !sortedKeys[outer] || len(call.Args) == 0 {
		return
	}
	inner, ok := ast.Unparen(call.Args[0]).(*ast.CallExpr)
	if !ok {
		return
	}
	switch name := f.fullName(inner); {
	case name == "maps.Keys": // distinct, so no ties for an unstable sort to mix up
		f.tame(call)
		f.tame(inner)
	case name == "maps.Values" && outer == "slices.Sorted": // equal values cannot be told apart
		f.tame(inner)
	}
}

// visitName reports a name that stands for something banned.
func (f *finder) visitName(id *ast.Ident) {
	obj := f.info.Uses[id]
	if obj == nil || f.tamed[id] {
		return
	}
	if b, ok := obj.(*types.Builtin); ok && bannedBuiltins[b.Name()] != "" {
		f.reportf(id.Pos(), "%s: %s", b.Name(), bannedBuiltins[b.Name()])
		return
	}
	name := fullName(obj)
	switch {
	case bannedFuncs[name] != "":
		f.reportf(id.Pos(), "%s: %s", name, bannedFuncs[name])
	case mapOrder[name]:
		f.reportf(id.Pos(), "%s: map order is random; wrap it in slices.Sorted", name)
	case localTime[name]:
		f.reportf(id.Pos(), "%s: in the host's time zone; append .UTC()", name)
	}
}

// tame excuses the name of the function that call calls.
func (f *finder) tame(call *ast.CallExpr) {
	if id := calledName(call.Fun); id != nil {
		f.tamed[id] = true
	}
}

// fullName names the function that call calls, "" if it has no fixed one.
func (f *finder) fullName(call *ast.CallExpr) string {
	return fullName(typeutil.Callee(f.info, call))
}

// calledName returns the identifier that names the function in a call.
func calledName(fun ast.Expr) *ast.Ident {
	switch fun := ast.Unparen(fun).(type) {
	case *ast.Ident:
		return fun
	case *ast.SelectorExpr:
		return fun.Sel
	case *ast.IndexExpr:
		return calledName(fun.X)
	case *ast.IndexListExpr:
		return calledName(fun.X)
	}
	return nil
}

// fullName writes a function, method or variable of a package as the tables of
// bans do.
func fullName(obj types.Object) string {
	switch obj := obj.(type) {
	case *types.Func:
		return obj.Origin().FullName()
	case *types.Var:
		if obj.Pkg() != nil && obj.Parent() == obj.Pkg().Scope() {
			return obj.Pkg().Path() + "." + obj.Name()
		}
	}
	return ""
}
