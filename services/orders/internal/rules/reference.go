package rules

import (
	"crypto/rand"
	"encoding/base32"
)

// referenceAlphabet leaves out letters that are taken for digits on the telephone.
var referenceAlphabet = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

const referenceBytes = 8

// NewReference makes the reference a person quotes, such as G-7K3M9-Q2XW4. It is random, so it
// says nothing of the number of orders; a collision is met by the schema.
func NewReference() string {
	raw := make([]byte, referenceBytes)
	_, _ = rand.Read(raw) // Never fails.
	text := referenceAlphabet.EncodeToString(raw)
	return "G-" + text[:5] + "-" + text[5:10]
}
