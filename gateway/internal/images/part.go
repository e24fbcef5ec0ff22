package images

import (
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// part is a span of a file; length 0 is a part the file does not have.
type part struct {
	start, length int64
}

// askedPart reads the Range header of a request (RFC 9110, section 14.1.2). Several ranges, other
// units and what is malformed count as no range: the whole file is answered, as the RFC allows.
func (f file) askedPart(h http.Header) (part, bool) {
	values := h.Values("Range")
	if len(values) != 1 || !f.rangeApplies(h) {
		return part{}, false
	}
	unit, spec, _ := strings.Cut(values[0], "=")
	if !strings.EqualFold(strings.TrimSpace(unit), "bytes") {
		return part{}, false
	}
	first, last, ok := strings.Cut(strings.TrimSpace(spec), "-")
	if !ok || !digits(first) || !digits(last) || first+last == "" {
		return part{}, false
	}
	if first == "" {
		length := min(number(last), f.size)
		return part{start: f.size - length, length: length}, true
	}
	start, end := number(first), int64(math.MaxInt64)
	if last != "" {
		end = number(last)
	}
	if end < start {
		return part{}, false
	}
	if start >= f.size {
		return part{}, true
	}
	return part{start: start, length: min(end, f.size-1) - start + 1}, true
}

func digits(text string) bool {
	return strings.Trim(text, "0123456789") == ""
}

// number is the largest there is for what is too large.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return math.MaxInt64
	}
	return n
}

// contentRange says which part of the file an answer has.
func (f file) contentRange(p part) string {
	if p.length == 0 {
		return fmt.Sprintf("bytes */%d", f.size)
	}
	return fmt.Sprintf("bytes %d-%d/%d", p.start, p.start+p.length-1, f.size)
}
