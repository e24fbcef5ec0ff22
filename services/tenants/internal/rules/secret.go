package rules

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
)

const secretBytes = 32

// NewWebhookSecret makes a signing secret: 64 lower-case hex characters, which as they stand are
// the bytes of the HMAC key.
func NewWebhookSecret() string {
	raw := make([]byte, secretBytes)
	_, _ = rand.Read(raw) // Never fails.
	return hex.EncodeToString(raw)
}

// SecretPlace is where the signing secret of a key is sealed for: copied to another key it does
// not open.
func SecretPlace(keyID int32) string {
	return "api_key/" + strconv.Itoa(int(keyID)) + "/webhook_secret"
}
