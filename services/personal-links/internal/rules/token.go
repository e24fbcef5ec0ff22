package rules

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

const (
	// tokenBytes of randomness cannot be guessed.
	tokenBytes = 18
	tokenLen   = tokenBytes * 4 / 3
)

// NewToken makes the secret part of a claim URL.
func NewToken() string {
	raw := make([]byte, tokenBytes)
	_, _ = rand.Read(raw) // Never fails.
	return base64.RawURLEncoding.EncodeToString(raw)
}

// HashToken returns the hash by which a token is looked up. A keyed or slow hash would add nothing,
// because nobody can try all tokens. ok is false for a text that is not a token.
func HashToken(token string) (hash []byte, ok bool) {
	if len(token) != tokenLen {
		return nil, false
	}
	if _, err := base64.RawURLEncoding.DecodeString(token); err != nil {
		return nil, false
	}
	sum := sha256.Sum256([]byte(token))
	return sum[:], true
}

// ClaimURL is the address to pass to the player.
func ClaimURL(base, token string) string { return strings.TrimSuffix(base, "/") + "/" + token }
