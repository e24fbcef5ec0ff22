package inbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// SignatureHeader carries the signature of a webhook.
	SignatureHeader = "Service-Signature"
	// Tolerance is how far the time of a signature may be from the receiver's clock, so that a recorded webhook cannot
	// be played back later.
	Tolerance = 5 * time.Minute
)

// Verify reports whether a signature of the header fits the body and the secret (API specification, section Signature). After a
// rotation there are two. The HMAC's key is the text of the secret. The HMAC covers the time exactly as in the header.
func Verify(secret, header string, body []byte, now time.Time) bool {
	t, signatures := parts(header)
	seconds, err := strconv.ParseInt(t, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > Tolerance {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(t + "."))
	mac.Write(body)
	want := mac.Sum(nil)
	return slices.ContainsFunc(signatures, func(v1 string) bool {
		claimed, err := hex.DecodeString(v1)
		return err == nil && hmac.Equal(claimed, want)
	})
}

// parts reads t and each v1. Other parts are ignored.
func parts(header string) (t string, signatures []string) {
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "t":
			t = value
		case "v1":
			signatures = append(signatures, value)
		}
	}
	return t, signatures
}
