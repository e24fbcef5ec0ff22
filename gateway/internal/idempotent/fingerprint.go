// Package idempotent reads the Idempotency-Key header and makes the fingerprint of a request. With both, the owning service
// decides whether a request is new, a repetition or a conflict.
package idempotent

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
)

// Fingerprinter makes fingerprints with secret keys, so that a stored fingerprint reveals nothing about the body.
type Fingerprinter struct {
	keys [][]byte
}

// NewFingerprinter takes a ring of at least one key.
func NewFingerprinter(keys ...[]byte) Fingerprinter { return Fingerprinter{keys: keys} }

// Of hashes method, path, query and body. White space and the order of members and parameters do not matter. A body that is not
// JSON counts byte for byte. The first key makes the fingerprint, and the others those that an earlier request may have.
func (f Fingerprinter) Of(method, path string, query url.Values, body []byte) (fingerprint []byte, others [][]byte) {
	kind, content := "json", body
	digest, err := digestJSON(body)
	if err != nil {
		kind = "raw"
	} else {
		content = digest[:]
	}
	head := make([]byte, 0, usualHeadLen)
	for _, text := range [...]string{method, path, query.Encode(), kind} {
		head = append(binary.BigEndian.AppendUint64(head, uint64(len(text))), text...)
	}
	head = binary.BigEndian.AppendUint64(head, uint64(len(content)))
	sum := func(key []byte) []byte {
		h := hmac.New(sha256.New, key)
		h.Write(head)
		h.Write(content)
		return h.Sum(nil)
	}
	for _, key := range f.keys[1:] {
		others = append(others, sum(key))
	}
	return sum(f.keys[0]), others
}

// usualHeadLen is enough for everything but the body of most requests.
const usualHeadLen = 256

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
	case fields.Blank(key):
		return "", problem.New(problem.IdempotencyKeyRequired, "A POST needs an Idempotency-Key header.")
	case !utf8.ValidString(key):
		return "", problem.New(problem.IdempotencyKeyInvalid, "Idempotency-Key must be valid text.")
	case utf8.RuneCountInString(key) > maxKeyLen:
		return "", problem.New(problem.IdempotencyKeyInvalid, "Idempotency-Key must have at most %d characters.", maxKeyLen)
	}
	return key, nil
}

// quotedForm is printable ASCII in quotes, in which only \" and \\ are escapes.
var quotedForm = regexp.MustCompile(`^"((?:[ !#-\[\]-~]|\\["\\])*)"$`)

var unescaper = strings.NewReplacer(`\\`, `\`, `\"`, `"`)

func unquote(s string) (text string, ok bool) {
	m := quotedForm.FindStringSubmatch(s)
	if m == nil {
		return "", false
	}
	return unescaper.Replace(m[1]), true
}
