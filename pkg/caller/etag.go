package caller

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"

	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

const (
	// digestBytes makes collisions as good as impossible.
	digestBytes = 15
	separator   = "."
)

// NewETag makes the strong entity tag of a body (RFC 9110, sections 8.8.3 and 13.1). state may be empty.
//
// A tag has two parts, "state.representation". The representation is a digest of the body, so a tag changes with every byte of it.
// The state names the version of an order, and a service can compute it from the record alone. So a service that has locked an
// order can decide on If-Match without the body, which another version of the gateway may write with other members. Tags of other
// resources have no state. Callers must not read anything into a tag.
func NewETag(state string, body []byte) string {
	tag := digest(body)
	if state != "" {
		tag = state + separator + tag
	}
	return `"` + tag + `"`
}

// OrderState is the state of an order. It has the time too: after a restore of the database, a version may be used again for
// another change.
func OrderState(o *ordersv1.Order) string {
	state := []byte(o.GetId())
	state = binary.BigEndian.AppendUint64(state, uint64(o.GetVersion())) //nolint:gosec // The bits are hashed.
	at := o.GetUpdatedAt().AsTime().UnixMicro()
	return digest(binary.BigEndian.AppendUint64(state, uint64(at)))
}

func digest(of []byte) string {
	sum := sha256.Sum256(of)
	return base64.RawURLEncoding.EncodeToString(sum[:digestBytes])
}
