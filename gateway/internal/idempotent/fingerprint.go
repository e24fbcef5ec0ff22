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
	kind, content := "json", body
	digest, err := digestJSON(body)
	if err != nil {
		kind = "raw"
	} else {
		content = digest[:]
	}
	head := make([]byte, 0, usualHead)
	for _, text := range [...]string{method, path, query.Encode(), kind} {
		head = append(binary.BigEndian.AppendUint64(head, uint64(len(text))), text...)
	}
	head = binary.BigEndian.AppendUint64(head, uint64(len(content)))
	h := hmac.New(sha256.New, f.Key)
	h.Write(head)
	h.Write(content)
	return h.Sum(nil)
}

// usualHead holds what stands before the body of most requests.
const usualHead = 256
