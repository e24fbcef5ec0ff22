package images

import (
	"net/http"
	"strings"
)

// isCurrent reports whether If-None-Match names the file, so that the caller's copy is current (RFC 9110, section 13.1.2). A
// header that is not a list of entity tags names nothing.
func (f file) isCurrent(h http.Header) bool {
	rest := strings.Join(h.Values("If-None-Match"), ",")
	if strings.TrimSpace(rest) == "*" {
		return true
	}
	for {
		rest = strings.TrimPrefix(strings.TrimLeft(rest, " \t,"), "W/")
		if !strings.HasPrefix(rest, `"`) {
			return false
		}
		end := strings.IndexByte(rest[1:], '"') + len(`""`)
		if end < len(`""`) {
			return false
		}
		if rest[:end] == f.etag {
			return true
		}
		rest = rest[end:]
	}
}

// rangeApplies reports whether the requested range is of this file: If-Range names it or is missing. A date never does,
// because images have none.
func (f file) rangeApplies(h http.Header) bool {
	validator := h.Get("If-Range")
	return validator == "" || validator == f.etag
}
