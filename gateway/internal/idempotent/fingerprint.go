package idempotent

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"net/url"

	"github.com/go-json-experiment/json/jsontext"
)

// Fingerprinter makes fingerprints under a secret key, so that a stored one reveals nothing of the
// body it was made from.
type Fingerprinter struct {
	Key []byte
}

// Of hashes method, path, query and body. White space and the order of members and parameters do
// not matter; a body that is no JSON counts byte for byte.
func (f Fingerprinter) Of(method, path string, query url.Values, body []byte) []byte {
	h := hmac.New(sha256.New, f.Key)
	kind := "json"
	canonical, ok := canonicalJSON(body)
	if !ok {
		kind, canonical = "raw", body
	}
	for _, part := range [][]byte{[]byte(method), []byte(path), []byte(query.Encode()), []byte(kind), canonical} {
		_ = binary.Write(h, binary.BigEndian, uint64(len(part)))
		h.Write(part)
	}
	return h.Sum(nil)
}

// canonicalJSON sorts members, drops white space and spells each string one way. Numbers keep
// their digits: two that differ past what a float holds are two requests.
func canonicalJSON(body []byte) ([]byte, bool) {
	value := jsontext.Value(bytes.TrimSpace(body)).Clone()
	if len(value) == 0 {
		return []byte("{}"), true
	}
	err := value.Format(
		jsontext.ReorderRawObjects(true),
		jsontext.PreserveRawStrings(false),
		jsontext.CanonicalizeRawInts(false),
		jsontext.CanonicalizeRawFloats(false),
		jsontext.Multiline(false),
		jsontext.SpaceAfterColon(false),
		jsontext.SpaceAfterComma(false),
	)
	return value, err == nil
}
