package idempotent

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxDepth is how deep a body may nest to count as JSON. The JSON codec rejects deeper bodies anyway. The bound keeps the
	// cost of a hostile body at one pass over its bytes.
	maxDepth = 100
	// maxReuse is the size of a body up to which its digester is used again. The memory of larger bodies is freed.
	maxReuse = 16 << 10
)

var errNotCanonical = errors.New("not JSON, or nested too deeply")

var digesters = sync.Pool{New: func() any { return &digester{dec: jsontext.NewDecoder(&bytes.Buffer{})} }}

// digestJSON hashes the value of a JSON text: white space, the order of members and the escapes in strings do not matter. Numbers
// are compared by their digits, so that numbers that differ beyond the precision of a float are different.
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

// digester holds the buffers for one digest.
type digester struct {
	body bytes.Buffer
	dec  *jsontext.Decoder
	// pending holds the bytes that are not hashed yet, of all parts that are being read, one part after another.
	pending []byte
	// members and names are those of all objects that are being read, one object after another.
	members []member
	names   []byte
}

// member of an object. Each value is hashed on its own, so that sorting the members moves digests and not texts.
type member struct {
	name, nameEnd int
	digest        [sha256.Size]byte
}

func (d *digester) read(body []byte) {
	d.body = *bytes.NewBuffer(body)
	d.dec.Reset(&d.body)
}

func (d *digester) release(size int) {
	if size > maxReuse {
		return
	}
	d.read(nil) // Now the body can be freed.
	d.pending, d.members, d.names = d.pending[:0], d.members[:0], d.names[:0]
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
	head := len(d.pending)
	d.pending = appendHead(d.pending, kind, value)
	if kind != jsontext.KindString {
		d.pending = append(d.pending, value...)
	} else if d.pending, err = jsontext.AppendUnquote(d.pending, value); err != nil {
		return err
	}
	binary.BigEndian.PutUint64(d.pending[head+1:], uint64(len(d.pending[head+headLen:])))
	d.drain(p)
	return nil
}

func (d *digester) array(p *part, depth int) error {
	if _, err := d.dec.ReadToken(); err != nil {
		return err
	}
	d.pending = append(d.pending, '[')
	for d.dec.PeekKind() != jsontext.KindEndArray {
		if err := d.value(p, depth+1); err != nil {
			return err
		}
	}
	d.pending = append(d.pending, ']')
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
	d.pending = append(d.pending, '{')
	for _, m := range members {
		name := d.name(m)
		d.pending = append(appendHead(d.pending, jsontext.KindString, name), name...)
		d.pending = append(d.pending, m.digest[:]...)
		d.drain(p)
	}
	d.pending = append(d.pending, '}')
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

// headLen is the length of the head of a text.
const headLen = 9

// appendHead appends the kind and length of a text, so that different sequences of texts are different bytes.
func appendHead(b []byte, kind jsontext.Kind, text []byte) []byte {
	return binary.BigEndian.AppendUint64(append(b, byte(kind)), uint64(len(text)))
}

// chunk bounds the pending bytes of a part, whatever a body contains.
const chunk = 4 << 10

// part is a value that is hashed separately: the whole body, or the value of one member.
type part struct {
	// from is where its bytes begin in pending.
	from int
	// hashed is the hash of the bytes that are no longer pending. It is nil for most parts, whose bytes are all pending.
	hashed hash.Hash
}

func (d *digester) begin() part { return part{from: len(d.pending)} }

// drain hashes the pending bytes of the part once there are many. The part must be the last one.
func (d *digester) drain(p *part) {
	if len(d.pending)-p.from < chunk {
		return
	}
	if p.hashed == nil {
		p.hashed = sha256.New()
	}
	p.hashed.Write(d.pending[p.from:])
	d.pending = d.pending[:p.from]
}

// sum ends the part and returns its digest.
func (d *digester) sum(p *part) (digest [sha256.Size]byte) {
	if p.hashed == nil {
		digest = sha256.Sum256(d.pending[p.from:])
	} else {
		p.hashed.Write(d.pending[p.from:])
		copy(digest[:], p.hashed.Sum(nil))
	}
	d.pending = d.pending[:p.from]
	return digest
}
