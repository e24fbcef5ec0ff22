package rules

import (
	"crypto/rand"
	"encoding/hex"
	"strconv"
)

const secretBytes = 32

// NewWebhookSecret makes a signing secret of 64 lower-case hex characters. These characters, not the bytes
// they encode, are the HMAC key.
func NewWebhookSecret() string {
	raw := make([]byte, secretBytes)
	_, _ = rand.Read(raw) // Never fails.
	return hex.EncodeToString(raw)
}

// SecretData is the associated data with which the signing secret of a key is sealed, so that it cannot be
// opened for another key.
func SecretData(keyID int32) string {
	return "api_key/" + strconv.Itoa(int(keyID)) + "/webhook_secret"
}
