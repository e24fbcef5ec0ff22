package idempotent

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is how deep a body may nest to count as JSON here. The JSON codec refuses a deeper one
// anyway; the bound keeps the cost of a hostile body at one pass over its bytes.
const maxDepth = 100

var errNotCanonical = errors.New("not JSON, or nested too deeply")

// digestJSON hashes what a JSON text means: white space, the order of members and the way a string
// is escaped do not matter. Numbers count by their digits, so that two that differ past what a
// float holds are two requests.
func digestJSON(body []byte) ([]byte, error) {
	if len(bytes.TrimSpace(body)) == 0 {
		body = []byte("{}")
	}
	d := digester{dec: jsontext.NewDecoder(bytes.NewBuffer(body))}
	h := sha256.New()
	if err := d.value(h, 0); err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(body[d.dec.InputOffset():])) > 0 {
		return nil, errNotCanonical
	}
	return h.Sum(nil), nil
}

type digester struct {
	dec *jsontext.Decoder
}

func (d digester) value(h hash.Hash, depth int) error {
	if depth > maxDepth {
		return errNotCanonical
	}
	token, err := d.dec.ReadToken()
	if err != nil {
		return err
	}
	switch kind := token.Kind(); kind {
	case jsontext.KindBeginObject:
		return d.object(h, depth)
	case jsontext.KindBeginArray:
		return d.array(h, depth)
	default:
		writePart(h, byte(kind), token.String())
		return nil
	}
}

func (d digester) array(h hash.Hash, depth int) error {
	h.Write([]byte{'['})
	for d.dec.PeekKind() != jsontext.KindEndArray {
		if err := d.value(h, depth+1); err != nil {
			return err
		}
	}
	h.Write([]byte{']'})
	_, err := d.dec.ReadToken()
	return err
}

type member struct {
	name   string
	digest [sha256.Size]byte
}

// object hashes each member by itself, so that sorting them moves digests and not their texts.
func (d digester) object(h hash.Hash, depth int) error {
	var members []member
	for d.dec.PeekKind() != jsontext.KindEndObject {
		name, err := d.dec.ReadToken()
		if err != nil {
			return err
		}
		m := member{name: name.String()}
		inner := sha256.New()
		if err := d.value(inner, depth+1); err != nil {
			return err
		}
		inner.Sum(m.digest[:0])
		members = append(members, m)
	}
	slices.SortFunc(members, func(a, b member) int { return bytes.Compare([]byte(a.name), []byte(b.name)) })
	h.Write([]byte{'{'})
	for _, m := range members {
		writePart(h, '"', m.name)
		h.Write(m.digest[:])
	}
	h.Write([]byte{'}'})
	_, err := d.dec.ReadToken()
	return err
}

// writePart writes a kind and a text so that no two sequences of parts are the same bytes.
func writePart(h hash.Hash, kind byte, text string) {
	var head [9]byte
	head[0] = kind
	binary.BigEndian.PutUint64(head[1:], uint64(len(text)))
	h.Write(head[:])
	h.Write([]byte(text))
}
