// Package sandboxpace lets a record of the sandbox go on by itself. A reference of the record that begins with sandbox:auto asks
// for it. Each service keeps the next step of such a record as a row with the time when it is due, so that no step is lost.
package sandboxpace

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// prefix is how a reference begins that has a directive.
const prefix = "sandbox:auto"

// DefaultPace is the time between two steps.
const DefaultPace = 2 * time.Second

// maxPace bounds how long a row waits for its step.
const maxPace = time.Hour

// ErrDirective is wrapped by the error of a directive that cannot be read. Its text completes "must begin with …".
var ErrDirective = errors.New("must begin with " + prefix)

// directive is "sandbox:auto", "sandbox:auto=10s", "sandbox:auto,stop=SENT" or both parts. After a colon, the rest is the caller's.
var directive = regexp.MustCompile(`^sandbox:auto(?:=([0-9]{1,5})s)?(?:,stop=([A-Z_]+))?(?::.*)?$`)

// Directive says how a record goes on by itself.
type Directive struct {
	// Pace is the time before each step.
	Pace time.Duration
	// Stop is the status after which the record does not go on; empty: it goes on to its end.
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
		seconds, err := strconv.Atoi(parts[1])
		if d.Pace = time.Duration(seconds) * time.Second; err != nil || d.Pace < time.Second || d.Pace > maxPace {
			return nil, invalid(stops)
		}
	}
	return d, nil
}

func invalid(stops []string) error {
	return fmt.Errorf("%w, then perhaps =1s to =3600s, then perhaps ,stop= with %s, then the end or a colon",
		ErrDirective, strings.Join(stops, " or "))
}
