package conformance

import (
	_ "embed"
	"errors"
	"fmt"
	"strings"
)

//go:embed promises.txt
var promises string

// The place of the tests that bear the words of a promise.
const (
	suitePackage = "deploy/e2e"
	suiteTest    = "TestPlatform"
	suiteName    = "conformance"
)

// Test names one by its package, from the root of the repository, and its path of subtests.
type Test struct {
	Package string
	Path    []string
}

// String implements fmt.Stringer.
func (t Test) String() string { return t.Package + " " + strings.Join(t.Path, separator) }

const separator = " > "

// Promise is one, with the tests that the list names beside the one that bears its words.
type Promise struct {
	ID    string
	Words string
	Tests []Test
	// As are the promises that this one repeats.
	As []string
}

// Section of the API.
type Section struct {
	Name     string
	Title    string
	Promises []Promise
}

// suite is the test that bears the words of a promise of the section.
func (s Section) suite(p Promise) Test {
	return Test{Package: suitePackage, Path: []string{suiteTest, suiteName, s.Name, p.Words}}
}

var (
	errLine  = errors.New("cannot be read")
	errTwice = errors.New("stands twice")
)

// List reads promises.txt.
func List() ([]Section, error) { return parse(promises) }

func parse(text string) ([]Section, error) {
	var sections []Section
	ids := map[string]bool{}
	for number, line := range strings.Split(text, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if err := add(&sections, line, ids); err != nil {
			return nil, fmt.Errorf("line %d: %q %w", number+1, line, err)
		}
	}
	return sections, nil
}

// add reads one more line.
func add(sections *[]Section, line string, ids map[string]bool) error {
	if title, ok := strings.CutPrefix(line, "# "); ok {
		name, words, ok := strings.Cut(title, " | ")
		if !ok {
			return errLine
		}
		*sections = append(*sections, Section{Name: name, Title: words})
		return nil
	}
	if len(*sections) == 0 {
		return errLine
	}
	section := &(*sections)[len(*sections)-1]
	if detail, ok := strings.CutPrefix(line, "    "); ok {
		return section.addTest(detail)
	}
	id, words, ok := strings.Cut(line, " ")
	if !ok || strings.HasPrefix(line, " ") {
		return errLine
	}
	if ids[id] {
		return errTwice
	}
	ids[id] = true
	section.Promises = append(section.Promises, Promise{ID: id, Words: words})
	return nil
}

// addTest gives the last promise of the section one more test.
func (s *Section) addTest(detail string) error {
	first, rest, ok := strings.Cut(detail, " ")
	if !ok || len(s.Promises) == 0 {
		return errLine
	}
	promise := &s.Promises[len(s.Promises)-1]
	if first == "as" {
		promise.As = append(promise.As, rest)
		return nil
	}
	promise.Tests = append(promise.Tests, Test{Package: first, Path: strings.Split(rest, separator)})
	return nil
}
