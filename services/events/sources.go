package events

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/partnergifting/platform/services/events/internal/relay"
)

// Source is a database whose outbox the relay publishes.
type Source = relay.Source

// Sources is read from text such as orders=postgres://…,links=postgres://…
type Sources []Source

var (
	// sourceStart matches the start of an entry. A comma alone does not start one: a URL may list several hosts.
	sourceStart = regexp.MustCompile(`(?:^|,)\s*([a-z][a-z0-9_-]*)=(postgres(?:ql)?://)`)

	errSources = errors.New("sources must be name=postgres://…, separated by commas, each name once")
)

// UnmarshalText implements encoding.TextUnmarshaler. Its errors do not repeat the text, which may
// hold passwords.
func (s *Sources) UnmarshalText(text []byte) error {
	in := string(text)
	starts := sourceStart.FindAllStringSubmatchIndex(in, -1)
	if len(starts) == 0 || starts[0][0] != 0 {
		return errSources
	}
	var parsed Sources
	seen := map[string]bool{}
	for i, at := range starts {
		end := len(in)
		if i+1 < len(starts) {
			end = starts[i+1][0]
		}
		name := in[at[2]:at[3]]
		if seen[name] {
			return fmt.Errorf("%w: %s", errSources, name)
		}
		seen[name] = true
		parsed = append(parsed, Source{Name: name, URL: strings.TrimSpace(in[at[4]:end])})
	}
	*s = parsed
	return nil
}
