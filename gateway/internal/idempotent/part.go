package idempotent

import (
	"crypto/sha256"
	"hash"
)

// chunk bounds the pending bytes of a part, whatever a body contains.
const chunk = 4 << 10

// part is what is hashed on its own: the whole body, or the value of one member.
type part struct {
	// from is where its bytes begin among the pending ones.
	from int
	// hashed has the bytes that are no longer pending. It is nil for most parts, whose bytes are all pending.
	hashed hash.Hash
}

func (d *digester) begin() part { return part{from: len(d.pending)} }

// drain hashes the pending bytes of the part once there are many. They must be the last ones.
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
