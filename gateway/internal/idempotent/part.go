package idempotent

import (
	"crypto/sha256"
	"hash"
)

// chunk bounds how many bytes of a part wait to be hashed at once, whatever a body is made of.
const chunk = 4 << 10

// part is what is hashed by itself: the whole body, or the value of one member.
type part struct {
	// from is where its bytes begin among those that wait.
	from int
	// hashed has what does not wait any more; nil: all of it waits, as is the rule.
	hashed hash.Hash
}

func (d *digester) begin() part { return part{from: len(d.waiting)} }

// drain hashes the bytes of the part that wait, once they are many. No other part's may stand behind them.
func (d *digester) drain(p *part) {
	if len(d.waiting)-p.from < chunk {
		return
	}
	if p.hashed == nil {
		p.hashed = sha256.New()
	}
	p.hashed.Write(d.waiting[p.from:])
	d.waiting = d.waiting[:p.from]
}

// sum ends the part and gives its digest.
func (d *digester) sum(p *part) (digest [sha256.Size]byte) {
	if p.hashed == nil {
		digest = sha256.Sum256(d.waiting[p.from:])
	} else {
		p.hashed.Write(d.waiting[p.from:])
		copy(digest[:], p.hashed.Sum(nil))
	}
	d.waiting = d.waiting[:p.from]
	return digest
}
