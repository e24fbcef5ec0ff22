package idempotent

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math/bits"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxDepth is how deep a body may nest to count as JSON. The JSON codec rejects deeper bodies anyway. The bound keeps the
	// cost of a hostile body at one pass over its bytes.
	maxDepth = 100
	// maxText is how long the text of an array may become before its digest replaces it. It bounds the memory for a hostile body.
	maxText = 4 << 10
)

var errNotCanonical = errors.New("not JSON, or nested too deeply")

// digestJSON hashes the value of a JSON text: white space, the order of members and the escapes in strings do not matter. Numbers
// are compared by their digits, so that numbers that differ beyond the precision of a float are different.
//
// An object is the sum of the hashes of its members, which needs neither sorting nor a set of names. So the cost follows the bytes
// of the body, however many members it has. Duplicate names, which the codec refuses, are all part of the sum.
func digestJSON(body []byte) (digest [sha256.Size]byte, err error) {
	if len(bytes.TrimSpace(body)) == 0 {
		body = []byte("{}")
	}
	if !jsontext.Value(body).IsValid(jsontext.AllowDuplicateNames(true)) {
		return digest, errNotCanonical
	}
	d := digester{rest: body, text: make([]byte, 0, usualTextLen)}
	if err := d.value(0); err != nil {
		return digest, err
	}
	return sha256.Sum256(d.text), nil
}

// usualTextLen is enough for the text of most bodies.
const usualTextLen = 1 << 10

// digester reads a body that is valid JSON.
type digester struct {
	rest []byte
	// text is the canonical text of what is being read. A digest in it begins with # or {, and nothing else does.
	text []byte
	// plain is a string without its escapes.
	plain []byte
}

// next returns the first byte of the next token.
func (d *digester) next() byte {
	for i, c := range d.rest {
		if c != ' ' && c != '\n' && c != '\t' && c != '\r' && c != ',' && c != ':' {
			d.rest = d.rest[i:]
			return c
		}
	}
	return 0
}

func (d *digester) value(depth int) error {
	if depth > maxDepth {
		return errNotCanonical
	}
	switch d.next() {
	case '{':
		return d.object(depth)
	case '[':
		return d.array(depth)
	case '"':
		d.string()
	default:
		d.literal()
	}
	return nil
}

const afterLiteral = ",]} \n\t\r"

func (d *digester) literal() {
	end := 0
	for end < len(d.rest) && strings.IndexByte(afterLiteral, d.rest[end]) < 0 {
		end++
	}
	d.text = append(append(d.text, d.rest[:end]...), ',')
	d.rest = d.rest[end:]
}

func (d *digester) string() {
	end, escaped := 1, false
	for d.rest[end] != '"' {
		if d.rest[end] == '\\' {
			escaped = true
			end++
		}
		end++
	}
	raw := d.rest[:end+1]
	d.rest = d.rest[end+1:]
	if !escaped {
		d.text = append(d.text, raw...)
		return
	}
	d.plain, _ = jsontext.AppendUnquote(d.plain[:0], raw)
	d.text, _ = jsontext.AppendQuote(d.text, d.plain)
}

func (d *digester) array(depth int) error {
	start := len(d.text)
	d.text = append(d.text, '[')
	for d.rest = d.rest[1:]; d.next() != ']'; {
		if err := d.value(depth + 1); err != nil {
			return err
		}
		if len(d.text)-start > maxText {
			digest := sha256.Sum256(d.text[start:])
			d.text = append(append(d.text[:start], '#'), digest[:]...)
		}
	}
	d.rest = d.rest[1:]
	d.text = append(d.text, ']')
	return nil
}

func (d *digester) object(depth int) error {
	var all sum
	start := len(d.text)
	for d.rest = d.rest[1:]; d.next() != '}'; {
		d.string()
		if err := d.value(depth + 1); err != nil {
			return err
		}
		all.add(sha256.Sum256(d.text[start:]))
		d.text = d.text[:start]
	}
	d.rest = d.rest[1:]
	d.text = all.append(append(d.text, '{'))
	return nil
}

// sum adds digests, in any order, modulo 2 to the 256th.
type sum [4]uint64

func (s *sum) add(digest [sha256.Size]byte) {
	var carry uint64
	for i := range s {
		s[i], carry = bits.Add64(s[i], binary.LittleEndian.Uint64(digest[8*i:]), carry)
	}
}

func (s *sum) append(b []byte) []byte {
	for _, word := range s {
		b = binary.LittleEndian.AppendUint64(b, word)
	}
	return b
}
