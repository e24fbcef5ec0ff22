package conformance

import (
	"go/ast"
	"slices"
	"strings"
)

// leaveOut is the one function through which a test of the suite may skip: it tells the run which test it was.
const leaveOut = "leaveOut"

// skipsAt says whether the test at the path below the body, or one that it stands in, can skip.
func (s *source) skipsAt(body ast.Node, path []string) bool {
	k := &skipper{source: s, whole: len(path) == 0, seen: map[string]bool{s.told: true}}
	if k.skips(body) {
		return true
	}
	return len(path) > 0 && slices.ContainsFunc(s.subtests(body), func(found subtest) bool {
		return found.name == path[0] && s.skipsAt(found.body, path[1:])
	})
}

// skipper looks for a skip in all that a body reaches in its package, its subtests only where it is to be seen whole.
type skipper struct {
	*source

	whole bool
	seen  map[string]bool
}

func (k *skipper) skips(body ast.Node) bool {
	found := false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if runs(n) && !k.whole {
				return false
			}
		case *ast.SelectorExpr:
			found = found || slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, n.Sel.Name)
		case *ast.Ident:
			found = found || k.named(n.Name)
		}
		return !found
	})
	return found
}

// named looks into the functions of the name; one that has been seen is not looked into again.
func (k *skipper) named(name string) bool {
	if k.seen[name] {
		return false
	}
	k.seen[name] = true
	return slices.ContainsFunc(k.namesakes[name], func(d *ast.FuncDecl) bool { return k.skips(d.Body) })
}

// Unchecked are the promises that a run of the suite has not checked, or not wholly: no test of the suite shows them, or one
// of those that the run left out does, or one below. The run names them as [testing.T.Name] does.
func Unchecked(sections []Section, shown map[string][]Test, left []string) []Promise {
	var out []Promise
	for _, section := range sections {
		for _, promise := range section.Promises {
			tests := shown[promise.ID]
			if !slices.ContainsFunc(tests, Test.ofSuite) || slices.ContainsFunc(tests, func(test Test) bool { return test.below(left) }) {
				out = append(out, promise)
			}
		}
	}
	return out
}

func (t Test) ofSuite() bool { return t.Package == suitePackage }

// below says whether the test is one of the suite's with these names, or stands below it.
func (t Test) below(names []string) bool {
	own := strings.ReplaceAll(strings.Join(t.Path, "/"), " ", "_")
	return t.ofSuite() && slices.ContainsFunc(names, func(name string) bool {
		return own == name || strings.HasPrefix(own, name+"/")
	})
}
