package rules

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

const (
	// tokenBytes of randomness: nobody guesses one.
	tokenBytes = 18
	tokenLen   = tokenBytes * 4 / 3
)

// NewToken makes the secret part of a claim URL.
func NewToken() string {
	raw := make([]byte, tokenBytes)
	_, _ = rand.Read(raw) // Never fails.
	return base64.RawURLEncoding.EncodeToString(raw)
}

// HashToken gives what a token is looked up by. A keyed or slow hash would add nothing: the token
// has too many bits to be tried. ok is false for a text that is no token.
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

// ClaimURL is the link to pass to the player. base has no slash at its end.
func ClaimURL(base, token string) string { return strings.TrimSuffix(base, "/") + "/" + token }
