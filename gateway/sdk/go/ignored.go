package gifting

import (
	"net/http"
	"regexp"
	"strings"
	"sync"
)

// ignoredHeaders name what the API ignored, with a word for it.
var ignoredHeaders = [][2]string{{"Ignored-Members", "member"}, {"Ignored-Parameters", "parameter"}}

// maxIgnored is more names than a program misspells. Made-up names must not fill the memory.
const maxIgnored = 1000

var (
	// item of a list (RFC 8941): a string, or a plain word.
	item    = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"|[^",\s]+`)
	escaped = regexp.MustCompile(`\\(.)`)
	index   = regexp.MustCompile(`\[\d+\]`)
)

// ignoredNames warns of each name once that the API ignored: it is probably misspelt, and what it should do did not happen.
type ignoredNames struct {
	warn   func(string)
	lock   sync.Mutex
	warned map[string]bool
}

// report reads the headers of a response.
func (i *ignoredNames) report(operation string, header http.Header) {
	for _, h := range ignoredHeaders {
		for _, found := range item.FindAllStringSubmatch(strings.Join(header.Values(h[0]), ","), -1) {
			name := found[0]
			if name[0] == '"' {
				name = escaped.ReplaceAllString(found[1], "$1")
			}
			if i.warn != nil && i.isNew(operation+" "+h[1]+" "+index.ReplaceAllString(name, "[]")) {
				i.warn(operation + ": the API ignored the " + h[1] + " " + name + ", perhaps because it is misspelt")
			}
		}
	}
}

func (i *ignoredNames) isNew(once string) bool {
	i.lock.Lock()
	defer i.lock.Unlock()
	if i.warned[once] || len(i.warned) >= maxIgnored {
		return false
	}
	i.warned[once] = true
	return true
}
