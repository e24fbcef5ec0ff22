package images

import (
	"net/http"
	"strings"
)

// unchanged says whether If-None-Match names the file, so that the caller's copy is good (RFC 9110,
// section 13.1.2). What is no list of entity tags names nothing.
func (f file) unchanged(h http.Header) bool {
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

// rangeApplies says whether the caller's part is of this file: If-Range names it, or stands not
// there. A date never does: images have none.
func (f file) rangeApplies(h http.Header) bool {
	validator := h.Get("If-Range")
	return validator == "" || validator == f.etag
}
