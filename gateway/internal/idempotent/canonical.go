package idempotent

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxDepth is how deep a body may nest to count as JSON here. The JSON codec refuses a deeper one
	// anyway; the bound keeps the cost of a hostile body at one pass over its bytes.
	maxDepth = 100
	// maxSpare is the size of a body up to which what its digest needed is kept for the next one.
	maxSpare = 16 << 10
)

var errNotCanonical = errors.New("not JSON, or nested too deeply")

var digesters = sync.Pool{New: func() any { return &digester{dec: jsontext.NewDecoder(&bytes.Buffer{})} }}

// digestJSON hashes what a JSON text means: white space, the order of members and the way a string
// is escaped do not matter. Numbers count by their digits, so that two that differ past what a
// float holds are two requests.
func digestJSON(body []byte) (digest [sha256.Size]byte, err error) {
	if len(bytes.TrimSpace(body)) == 0 {
		body = []byte("{}")
	}
	d := digesters.Get().(*digester)
	defer d.release(len(body))
	d.read(body)
	whole := d.begin()
	if err := d.value(&whole, 0); err != nil {
		return digest, err
	}
	if len(bytes.TrimSpace(body[d.dec.InputOffset():])) > 0 {
		return digest, errNotCanonical
	}
	return d.sum(&whole), nil
}

// digester has the memory of one digest.
type digester struct {
	body bytes.Buffer
	dec  *jsontext.Decoder
	// waiting has the bytes of the parts that are being read and not hashed yet, one part's behind
	// the other's.
	waiting []byte
	// members and names are those of the objects that are being read, likewise.
	members []member
	names   []byte
}

// member of an object. It is hashed by itself, so that sorting them moves digests and not their texts.
type member struct {
	name, nameEnd int
	digest        [sha256.Size]byte
}

func (d *digester) read(body []byte) {
	d.body = *bytes.NewBuffer(body)
	d.dec.Reset(&d.body)
}

func (d *digester) release(size int) {
	if size > maxSpare {
		return
	}
	d.read(nil) // It lets go of the body.
	d.waiting, d.members, d.names = d.waiting[:0], d.members[:0], d.names[:0]
	digesters.Put(d)
}

func (d *digester) value(p *part, depth int) error {
	if depth > maxDepth {
		return errNotCanonical
	}
	switch kind := d.dec.PeekKind(); kind {
	case jsontext.KindBeginObject:
		return d.object(p, depth)
	case jsontext.KindBeginArray:
		return d.array(p, depth)
	default:
		return d.scalar(p, kind)
	}
}

func (d *digester) scalar(p *part, kind jsontext.Kind) error {
	value, err := d.dec.ReadValue()
	if err != nil {
		return err
	}
	head := len(d.waiting)
	d.waiting = appendHead(d.waiting, kind, value)
	if kind != jsontext.KindString {
		d.waiting = append(d.waiting, value...)
	} else if d.waiting, err = jsontext.AppendUnquote(d.waiting, value); err != nil {
		return err
	}
	binary.BigEndian.PutUint64(d.waiting[head+1:], uint64(len(d.waiting[head+headLen:])))
	d.drain(p)
	return nil
}

func (d *digester) array(p *part, depth int) error {
	if _, err := d.dec.ReadToken(); err != nil {
		return err
	}
	d.waiting = append(d.waiting, '[')
	for d.dec.PeekKind() != jsontext.KindEndArray {
		if err := d.value(p, depth+1); err != nil {
			return err
		}
	}
	d.waiting = append(d.waiting, ']')
	_, err := d.dec.ReadToken()
	return err
}

func (d *digester) object(p *part, depth int) error {
	if _, err := d.dec.ReadToken(); err != nil {
		return err
	}
	first, names := len(d.members), len(d.names)
	for d.dec.PeekKind() != jsontext.KindEndObject {
		if err := d.member(depth + 1); err != nil {
			return err
		}
	}
	members := d.members[first:]
	slices.SortFunc(members, func(a, b member) int { return bytes.Compare(d.name(a), d.name(b)) })
	d.waiting = append(d.waiting, '{')
	for _, m := range members {
		name := d.name(m)
		d.waiting = append(appendHead(d.waiting, jsontext.KindString, name), name...)
		d.waiting = append(d.waiting, m.digest[:]...)
		d.drain(p)
	}
	d.waiting = append(d.waiting, '}')
	d.members, d.names = d.members[:first], d.names[:names]
	_, err := d.dec.ReadToken()
	return err
}

func (d *digester) member(depth int) error {
	name, err := d.dec.ReadValue()
	if err != nil {
		return err
	}
	m := member{name: len(d.names)}
	if d.names, err = jsontext.AppendUnquote(d.names, name); err != nil {
		return err
	}
	m.nameEnd = len(d.names)
	inner := d.begin()
	if err := d.value(&inner, depth); err != nil {
		return err
	}
	m.digest = d.sum(&inner)
	d.members = append(d.members, m)
	return nil
}

func (d *digester) name(m member) []byte { return d.names[m.name:m.nameEnd] }

// headLen is the length of what stands before a text.
const headLen = 9

// appendHead adds a text's kind and length, so that no two sequences of texts are the same bytes.
func appendHead(b []byte, kind jsontext.Kind, text []byte) []byte {
	return binary.BigEndian.AppendUint64(append(b, byte(kind)), uint64(len(text)))
}
