package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/binary"

	"github.com/partnergifting/platform/pkg/caller"
)

// Request names one POST of one API key.
type Request struct {
	KeyID       int32
	Key         string
	Fingerprint []byte
	// ID is the id of this HTTP request. A stored problem keeps it as its instance.
	ID string
}

// FromContext returns the request of a call that came through the edge with an Idempotency-Key, and
// false for every other call.
func FromContext(ctx context.Context) (Request, bool) {
	r := caller.RequestFrom(ctx)
	p, err := caller.PrincipalFrom(ctx)
	if err != nil || r.IdempotencyKey == "" {
		return Request{}, false
	}
	return Request{KeyID: p.KeyID, Key: r.IdempotencyKey, Fingerprint: r.Fingerprint, ID: r.ID}, true
}

// ReservationKey names the request in other services, so that a reservation made before a crash is found again.
func (r Request) ReservationKey() []byte {
	h := sha256.New()
	_ = binary.Write(h, binary.BigEndian, r.KeyID)
	h.Write([]byte(r.Key))
	return h.Sum(nil)
}
