// Package idempotent reads the Idempotency-Key header and makes the fingerprint of a request. The service that owns the
// operation decides with them whether the request is new, a repetition or a conflict.
package idempotent

import (
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/partnergifting/platform/pkg/problem"
)

const maxKeyLen = 255

// Key reads the header, bare or as a quoted string of RFC 8941. Its errors are idempotency_key_required and
// idempotency_key_invalid.
func Key(h http.Header) (string, error) {
	values := h.Values("Idempotency-Key")
	if len(values) > 1 {
		return "", problem.New(problem.IdempotencyKeyInvalid, "Idempotency-Key must be sent once.")
	}
	key := strings.TrimSpace(h.Get("Idempotency-Key"))
	if strings.HasPrefix(key, `"`) {
		unquoted, ok := unquote(key)
		if !ok {
			return "", problem.New(problem.IdempotencyKeyInvalid, "Idempotency-Key is not a well-formed quoted string.")
		}
		key = unquoted
	}
	switch {
	case strings.TrimSpace(key) == "":
		return "", problem.New(problem.IdempotencyKeyRequired, "A POST needs an Idempotency-Key header.")
	case !utf8.ValidString(key):
		return "", problem.New(problem.IdempotencyKeyInvalid, "Idempotency-Key must be valid text.")
	case utf8.RuneCountInString(key) > maxKeyLen:
		return "", problem.New(problem.IdempotencyKeyInvalid, "Idempotency-Key must have at most %d characters.", maxKeyLen)
	}
	return key, nil
}

// unquote reads a quoted string: printable ASCII, in which only \" and \\ are escapes.
func unquote(s string) (string, bool) {
	const shortest = 2
	if len(s) < shortest || s[len(s)-1] != '"' {
		return "", false
	}
	var b strings.Builder
	inner := s[1 : len(s)-1]
	for i := 0; i < len(inner); i++ {
		c := inner[i]
		switch {
		case c == '"' || c < ' ' || c > '~':
			return "", false
		case c == '\\':
			i++
			if i == len(inner) || inner[i] != '"' && inner[i] != '\\' {
				return "", false
			}
			b.WriteByte(inner[i])
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), true
}
