package idempotent

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"net/url"
)

// Fingerprinter makes fingerprints with a secret key, so that a stored fingerprint reveals nothing about the body.
type Fingerprinter struct {
	Key []byte
}

// Of hashes method, path, query and body. White space and the order of members and parameters do not matter. A body that is not
// JSON counts byte for byte.
func (f Fingerprinter) Of(method, path string, query url.Values, body []byte) []byte {
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
	h := hmac.New(sha256.New, f.Key)
	h.Write(head)
	h.Write(content)
	return h.Sum(nil)
}

// usualHeadLen is enough for everything but the body of most requests.
const usualHeadLen = 256
