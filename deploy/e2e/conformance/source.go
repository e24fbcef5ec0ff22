package conformance

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
)

// source is the test code of a package.
type source struct {
	functions map[string]*ast.FuncDecl
	// namesakes are all functions and methods of a name.
	namesakes map[string][]*ast.FuncDecl
	types     map[string]ast.Expr
	// told is the function through which a test may skip, if there is one.
	told string
}

// readSource reads the test files of a folder that a plain `go test` compiles: what a build tag or the name of its file
// hides shows nothing.
func readSource(dir string) (*source, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read tests: %w", err)
	}
	s := &source{functions: map[string]*ast.FuncDecl{}, namesakes: map[string][]*ast.FuncDecl{}, types: map[string]ast.Expr{}}
	for _, entry := range entries {
		if !strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		compiled, err := build.Default.MatchFile(dir, entry.Name())
		if err != nil {
			return nil, fmt.Errorf("read tests: %w", err)
		}
		if !compiled {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, entry.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, fmt.Errorf("read tests: %w", err)
		}
		s.add(file)
	}
	return s, nil
}

func (s *source) add(file *ast.File) {
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				s.functions[d.Name.Name] = d
				s.namesakes[d.Name.Name] = append(s.namesakes[d.Name.Name], d)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if named, ok := spec.(*ast.TypeSpec); ok {
					s.types[named.Name.Name] = named.Type
				}
			}
		}
	}
}

// sources reads each package once.
type sources struct {
	root string
	read map[string]*source
}

func (s *sources) of(pkg string) (*source, error) {
	if found, ok := s.read[pkg]; ok {
		return found, nil
	}
	found, err := readSource(filepath.Join(s.root, filepath.FromSlash(pkg)))
	if err != nil {
		return nil, err
	}
	if pkg == suitePackage {
		found.told = leaveOut
	}
	s.read[pkg] = found
	return found, nil
}

// has says whether the test is in the source.
func (s *sources) has(t Test) (bool, error) {
	code, err := s.of(t.Package)
	if err != nil {
		return false, err
	}
	top, ok := code.functions[t.Path[0]]
	if !ok || !strings.HasPrefix(t.Path[0], "Test") {
		return false, nil
	}
	return len(code.find(top, t.Path[1:])) > 0, nil
}

// skips says whether the test, or what it stands in, skips without telling.
func (s *sources) skips(t Test) (bool, error) {
	code, err := s.of(t.Package)
	if err != nil {
		return false, err
	}
	return code.skipsAt(code.functions[t.Path[0]].Body, t.Path[1:]), nil
}

// below lists the subtests of a test, by name.
func (s *sources) below(t Test) ([]string, error) {
	code, err := s.of(t.Package)
	if err != nil {
		return nil, err
	}
	top, ok := code.functions[t.Path[0]]
	if !ok {
		return nil, fmt.Errorf("%s: no such test", t)
	}
	var names []string
	for _, body := range code.find(top, t.Path[1:]) {
		for _, found := range code.subtests(body) {
			names = append(names, found.name)
		}
	}
	return names, nil
}

// find gives the bodies of the subtests at the path.
func (s *source) find(body ast.Node, path []string) []ast.Node {
	if len(path) == 0 {
		return []ast.Node{body}
	}
	var out []ast.Node
	for _, found := range s.subtests(body) {
		if found.name == path[0] {
			out = append(out, s.find(found.body, path[1:])...)
		}
	}
	return out
}
