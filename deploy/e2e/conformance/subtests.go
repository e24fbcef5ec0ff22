package conformance

import (
	"go/ast"
	"slices"
)

// subtest is one that a body runs, directly or through functions that it calls.
type subtest struct {
	name string
	body ast.Node
}

// subtests of a test's body, under every name that is written out.
func (s *source) subtests(body ast.Node) []subtest {
	w := &walker{source: s}
	w.walk(body, scope{})
	return w.found
}

// walker goes through a body and what it calls.
type walker struct {
	*source

	found []subtest
	// inside are the functions that are being walked, which are not entered again.
	inside []string
}

func (w *walker) walk(node ast.Node, known scope) {
	ast.Inspect(node, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.RangeStmt:
			w.walk(n.X, known)
			w.walk(n.Body, known.with(w.ranged(n)))
			return false
		case *ast.CallExpr:
			return w.call(n, known)
		}
		return true
	})
}

// call notes a subtest or goes into a function of the package. It says whether the arguments are worth a look.
func (w *walker) call(c *ast.CallExpr, known scope) bool {
	name := called(c.Fun)
	if runs(c) {
		for _, text := range w.texts(c.Args[0], known) {
			w.found = append(w.found, subtest{name: text, body: w.body(c.Args[1])})
		}
		return false
	}
	if declared, ok := w.functions[name]; ok && !slices.Contains(w.inside, name) {
		w.inside = append(w.inside, name)
		w.walk(declared.Body, w.arguments(declared, c, known))
		w.inside = w.inside[:len(w.inside)-1]
	}
	return true
}

// runs says whether a call is that of a subtest.
func runs(c *ast.CallExpr) bool {
	const arguments = 2
	return called(c.Fun) == "Run" && len(c.Args) == arguments
}

// arguments are the texts that a call gives its function.
func (w *walker) arguments(declared *ast.FuncDecl, c *ast.CallExpr, known scope) scope {
	given := scope{}
	i := 0
	for _, parameters := range declared.Type.Params.List {
		for _, parameter := range parameters.Names {
			if i < len(c.Args) {
				if texts := w.texts(c.Args[i], known); texts != nil {
					given[parameter.Name] = meaning{texts: texts}
				}
			}
			i++
		}
	}
	return given
}

// body of a subtest: the function itself, or that of the package which is named.
func (w *walker) body(argument ast.Expr) ast.Node {
	if declared, ok := w.functions[called(argument)]; ok {
		return declared.Body
	}
	return argument
}

// called is the name of a function or method.
func called(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
