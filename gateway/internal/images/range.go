package images

import (
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strconv"
)

// byteRange is a requested part of a file. Length 0 means that it is outside the file.
type byteRange struct {
	start, length int64
}

// rangeForm matches one range of bytes: its first and its last position, or the length of a suffix.
var rangeForm = regexp.MustCompile(`(?i)^\s*bytes\s*=\s*(\d*)-(\d*)\s*$`)

// requestedRange reads the Range header (RFC 9110, section 14.1.2). Several ranges, other units and malformed headers are
// ignored: the response is the whole file, as the RFC allows.
func (f file) requestedRange(h http.Header) (byteRange, bool) {
	values := h.Values("Range")
	if len(values) != 1 || !f.rangeApplies(h) {
		return byteRange{}, false
	}
	form := rangeForm.FindStringSubmatch(values[0])
	if form == nil || form[1]+form[2] == "" {
		return byteRange{}, false
	}
	first, last := form[1], form[2]
	if first == "" {
		length := min(parseCapped(last), f.size)
		return byteRange{start: f.size - length, length: length}, true
	}
	start, end := parseCapped(first), int64(math.MaxInt64)
	if last != "" {
		end = parseCapped(last)
	}
	if end < start {
		return byteRange{}, false
	}
	if start >= f.size {
		return byteRange{}, true
	}
	return byteRange{start: start, length: min(end, f.size-1) - start + 1}, true
}

// parseCapped parses digits. A number that is too large becomes math.MaxInt64.
func parseCapped(digits string) int64 {
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return math.MaxInt64
	}
	return n
}

func (f file) contentRange(p byteRange) string {
	if p.length == 0 {
		return fmt.Sprintf("bytes */%d", f.size)
	}
	return fmt.Sprintf("bytes %d-%d/%d", p.start, p.start+p.length-1, f.size)
}

// rangeApplies reports whether If-Range allows a partial response: it has this file's ETag or is missing. A date never matches,
// because images have no Last-Modified.
func (f file) rangeApplies(h http.Header) bool {
	validator := h.Get("If-Range")
	return validator == "" || validator == f.etag
}
