package rules

import (
	"crypto/rand"
	"encoding/base32"
)

// referenceAlphabet leaves out letters that are mistaken for digits.
var referenceAlphabet = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)

const referenceBytes = 8

// NewReference makes the reference a person quotes, such as G-7K3M9-Q2XW4. It is random, so it does
// not reveal the number of orders. The schema finds a collision.
func NewReference() string {
	raw := make([]byte, referenceBytes)
	_, _ = rand.Read(raw) // Never fails.
	text := referenceAlphabet.EncodeToString(raw)
	return "G-" + text[:5] + "-" + text[5:10]
}
