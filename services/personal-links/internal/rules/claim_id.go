package rules

import (
	"crypto/sha256"

	"github.com/google/uuid"
)

const (
	// claimTag is where the hash in the id of a claim begins. What precedes it makes the id unique.
	claimTag = 8
	// A UUID has its variant in the first two bits of the hash.
	variantMask, variant = 0x3f, 0x80
)

// NewClaimID makes the id of the order for a claim of the link by a request. The id shows which request made it, so that after a
// crash a repetition of the request knows its own claim. The link stores only the id.
func NewClaimID(request []byte, linkID string) string {
	return tagged(uuid.Must(uuid.NewV7()), request, linkID).String()
}

// FormRequest identifies the requests of one form of the gift site to NewClaimID and MadeClaim. No request of a key is the same.
func FormRequest(nonce string) []byte { return []byte("gift site form\x00" + nonce) }

// MadeClaim reports whether the request made the order id for a claim of the link.
func MadeClaim(request []byte, linkID, orderID string) bool {
	id, err := uuid.Parse(orderID)
	return err == nil && id == tagged(id, request, linkID)
}

func tagged(id uuid.UUID, request []byte, linkID string) uuid.UUID {
	h := sha256.New()
	h.Write(id[:claimTag])
	h.Write([]byte(linkID))
	h.Write(request)
	copy(id[claimTag:], h.Sum(nil))
	id[claimTag] = id[claimTag]&variantMask | variant
	return id
}
