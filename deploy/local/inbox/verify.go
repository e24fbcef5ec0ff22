package inbox

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
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

// Verify reports whether the signature header fits the body and the secret (API specification, section Signature). The HMAC's
// key is the text of the secret. The HMAC covers the time exactly as in the header.
func Verify(secret, header string, body []byte, now time.Time) bool {
	t, v1 := parts(header)
	seconds, err := strconv.ParseInt(t, 10, 64)
	if err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > Tolerance {
		return false
	}
	claimed, err := hex.DecodeString(v1)
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(t + "."))
	mac.Write(body)
	return hmac.Equal(claimed, mac.Sum(nil))
}

// parts reads t and v1. A missing part is empty; other parts are ignored.
func parts(header string) (t, v1 string) {
	for part := range strings.SplitSeq(header, ",") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "t":
			t = value
		case "v1":
			v1 = value
		}
	}
	return t, v1
}
