package conformance

import (
	"errors"
	"fmt"
	"slices"
)

// Faults of the list.
var (
	ErrUntested = errors.New("no test shows it")
	ErrMissing  = errors.New("there is no such test in a run without build tags")
	ErrSkips    = errors.New("the test can skip, which shows nothing")
	ErrUnlisted = errors.New("no promise has this test")
	ErrUnknown  = errors.New("there is no such promise")
)

// Check holds the list against the tests below the root of the repository and gives the tests of each promise by its id.
func Check(root string, sections []Section) (map[string][]Test, error) {
	c := &checker{sources: &sources{root: root, read: map[string]*source{}}, shown: map[string][]Test{}}
	for _, section := range sections {
		for _, promise := range section.Promises {
			if err := c.collect(section, promise); err != nil {
				return nil, err
			}
		}
	}
	for _, section := range sections {
		for _, promise := range section.Promises {
			c.settle(promise)
		}
	}
	if err := c.unlisted(sections); err != nil {
		return nil, err
	}
	return c.shown, errors.Join(c.faults...)
}

type checker struct {
	sources *sources
	shown   map[string][]Test
	faults  []error
}

// collect notes the tests of a promise that are there.
func (c *checker) collect(section Section, promise Promise) error {
	own := section.suite(promise)
	for _, test := range append([]Test{own}, promise.Tests...) {
		there, err := c.sources.has(test)
		switch {
		case err != nil:
			return err
		case there:
			if err := c.show(promise, test); err != nil {
				return err
			}
		case !slices.Equal(test.Path, own.Path):
			c.faults = append(c.faults, fmt.Errorf("%s: %s: %w", promise.ID, test, ErrMissing))
		}
	}
	return nil
}

// show counts the test for the promise, unless it can skip.
func (c *checker) show(promise Promise, test Test) error {
	skips, err := c.sources.skips(test)
	if err != nil {
		return err
	}
	if skips {
		c.faults = append(c.faults, fmt.Errorf("%s: %s: %w", promise.ID, test, ErrSkips))
		return nil
	}
	c.shown[promise.ID] = append(c.shown[promise.ID], test)
	return nil
}

// settle gives a promise that repeats another its tests too, and demands one.
func (c *checker) settle(promise Promise) {
	for _, id := range promise.As {
		other, ok := c.shown[id]
		if !ok {
			c.faults = append(c.faults, fmt.Errorf("%s: as %s: %w", promise.ID, id, ErrUnknown))
		}
		c.shown[promise.ID] = append(c.shown[promise.ID], other...)
	}
	if len(c.shown[promise.ID]) == 0 {
		c.faults = append(c.faults, fmt.Errorf("%s %s: %w", promise.ID, promise.Words, ErrUntested))
	}
}

// unlisted finds tests of the suite whose words are no promise.
func (c *checker) unlisted(sections []Section) error {
	words := map[string][]string{}
	for _, section := range sections {
		for _, promise := range section.Promises {
			words[section.Name] = append(words[section.Name], promise.Words)
		}
	}
	suite := Test{Package: suitePackage, Path: []string{suiteTest, suiteName}}
	names, err := c.sources.below(suite)
	if err != nil {
		return err
	}
	for _, name := range names {
		section := Test{Package: suite.Package, Path: append(slices.Clone(suite.Path), name)}
		tests, err := c.sources.below(section)
		if err != nil {
			return err
		}
		for _, test := range tests {
			if !slices.Contains(words[name], test) {
				c.faults = append(c.faults, fmt.Errorf("%s%s%s: %w", section, separator, test, ErrUnlisted))
			}
		}
	}
	return nil
}
