package images

import (
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strconv"
)

// byteRange is a part of a file. Length 0 is a part outside of the file.
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
		length := min(number(last), f.size)
		return byteRange{start: f.size - length, length: length}, true
	}
	start, end := number(first), int64(math.MaxInt64)
	if last != "" {
		end = number(last)
	}
	if end < start {
		return byteRange{}, false
	}
	if start >= f.size {
		return byteRange{}, true
	}
	return byteRange{start: start, length: min(end, f.size-1) - start + 1}, true
}

// number returns the largest number for one that is too large.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
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

// rangeApplies reports whether the requested range is of this file: If-Range names it or is missing. A date never does,
// because images have none.
func (f file) rangeApplies(h http.Header) bool {
	validator := h.Get("If-Range")
	return validator == "" || validator == f.etag
}
