// Package sandboxpace lets a record of the sandbox advance by itself: its status changes without the people who change it in
// production. The caller requests it with a directive, sandbox:auto, at the beginning of a reference of the record. Each service
// stores the next step of such a record as a row with the time when it is due, so that no step is lost.
package sandboxpace

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// prefix begins every directive.
const prefix = "sandbox:auto"

// DefaultPace is the time between two steps.
const DefaultPace = 2 * time.Second

// maxPace bounds how long a row waits for its step.
const maxPace = time.Hour

// ErrDirective is wrapped by the error of a directive that cannot be read.
var ErrDirective = errors.New("must be " + prefix)

// directive is "sandbox:auto", "sandbox:auto=10s", "sandbox:auto,stop=SENT" or both parts. After white space, text of the caller
// may follow.
var directive = regexp.MustCompile(`^sandbox:auto(?:=([1-9][0-9]{0,3}[smh]))?(?:,stop=([A-Z_]+))?(?:\s|$)`)

// Directive says how a record advances by itself.
type Directive struct {
	// Pace is the time before each step.
	Pace time.Duration
	// Stop is the status at which the record stops; empty: its last one.
	Stop string
}

// Parse reads the directive at the beginning of a reference. It is nil if the reference has none. stops are the statuses at which
// such a record may stop.
func Parse(reference string, stops ...string) (*Directive, error) {
	if !strings.HasPrefix(reference, prefix) {
		return nil, nil //nolint:nilnil // Most references have no directive.
	}
	parts := directive.FindStringSubmatch(reference)
	if parts == nil || parts[2] != "" && !slices.Contains(stops, parts[2]) {
		return nil, invalid(stops)
	}
	d := &Directive{Pace: DefaultPace, Stop: parts[2]}
	if parts[1] != "" {
		d.Pace, _ = time.ParseDuration(parts[1]) // The expression allows only durations.
	}
	if d.Pace > maxPace {
		return nil, invalid(stops)
	}
	return d, nil
}

func invalid(stops []string) error {
	return fmt.Errorf("%w, perhaps with a pace from =1s to =1h and then with ,stop= and %s; text of your own may follow a space",
		ErrDirective, strings.Join(stops, " or "))
}
