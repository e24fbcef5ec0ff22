package idempotent

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"net/url"
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
	content, err := digestJSON(body)
	if err != nil {
		kind, content = "raw", body
	}
	for _, part := range [][]byte{[]byte(method), []byte(path), []byte(query.Encode()), []byte(kind), content} {
		_ = binary.Write(h, binary.BigEndian, uint64(len(part)))
		h.Write(part)
	}
	return h.Sum(nil)
}
