package openapi

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"

	"github.com/partnergifting/platform/pkg/problem"
)

// Changes is the change log of the API, newest first.
type Changes []Change

// Change is an entry of the change log. A deprecation also says what it affects, what replaces it and its sunset: the first day
// on which it may be missing.
type Change struct {
	ID          string    `yaml:"id"`
	Date        time.Time `yaml:"date"`
	Title       string    `yaml:"title"`
	Kind        string    `yaml:"kind"`
	Text        string    `yaml:"text"`
	Affects     []Target  `yaml:"affects"`
	Replacement string    `yaml:"replacement"`
	Sunset      time.Time `yaml:"sunset"`
}

// Target is what a deprecation affects: an operation, a query parameter of an operation, a property of a schema, or an error code.
type Target struct {
	Operation string       `yaml:"operation"`
	Parameter string       `yaml:"parameter"`
	Schema    string       `yaml:"schema"`
	Property  string       `yaml:"property"`
	Code      problem.Code `yaml:"code"`
}

// String names the target for readers.
func (t Target) String() string {
	switch {
	case t.Code != "":
		return "code " + string(t.Code)
	case t.Schema != "":
		return t.Schema + "." + t.Property
	case t.Parameter != "":
		return "parameter " + t.Parameter + " of " + t.Operation
	}
	return t.Operation
}

const (
	deprecated = "deprecated"
	// noticeMonths is how long something stays after its deprecation, at least.
	noticeMonths = 12
)

var errChanges = errors.New("change log")

// ParseChanges reads and checks a change log, see changes.yaml.
func ParseChanges(raw []byte) (Changes, error) {
	var changes Changes
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	if err := d.Decode(&changes); err != nil {
		return nil, fmt.Errorf("%w: %w", errChanges, err)
	}
	seen := map[string]bool{}
	for i, c := range changes {
		switch {
		case seen[c.ID]:
			return nil, fmt.Errorf("%w: %s is there twice", errChanges, c.ID)
		case i > 0 && c.Date.After(changes[i-1].Date):
			return nil, fmt.Errorf("%w: %s is newer than the entry above it", errChanges, c.ID)
		}
		seen[c.ID] = true
		if err := c.validate(); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", errChanges, c.ID, err)
		}
	}
	return changes, nil
}

func (c *Change) validate() error {
	switch {
	case c.ID == "" || c.ID != slug(c.ID):
		return errors.New("the id must be lower-case words with hyphens")
	case c.Title == "" || c.Text == "" || c.Date.IsZero():
		return errors.New("date, title and text are required")
	case !slices.Contains([]string{"added", "changed", deprecated, "removed"}, c.Kind):
		return fmt.Errorf("unknown kind %q", c.Kind)
	case c.Kind != deprecated && (len(c.Affects) > 0 || c.Replacement != "" || !c.Sunset.IsZero()):
		return errors.New("only a deprecation has affects, replacement and sunset")
	case c.Kind == deprecated && (len(c.Affects) == 0 || c.Replacement == ""):
		return errors.New("a deprecation needs affects and replacement")
	case c.Kind == deprecated && c.Sunset.Before(c.Date.AddDate(0, noticeMonths, 0)):
		return fmt.Errorf("the sunset must be at least %d months after the date", noticeMonths)
	}
	return nil
}

// slug makes an anchor of a name.
func slug(name string) string {
	return strings.Join(strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	}), "-")
}

// deprecations are the entries whose targets go away.
func (cs Changes) deprecations() []*Change {
	var found []*Change
	for i := range cs {
		if cs[i].Kind == deprecated {
			found = append(found, &cs[i])
		}
	}
	return found
}
