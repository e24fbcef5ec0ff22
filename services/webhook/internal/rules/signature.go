package rules

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strconv"
	"time"
)

// Signature is the value of the Service-Signature header: the time of this attempt and the HMAC over that
// time and the body. The key of the HMAC is the text of the secret, not the bytes that its hex digits
// encode.
func Signature(secret string, at time.Time, body []byte) string {
	t := strconv.FormatInt(at.Unix(), 10)
	return "t=" + t + ",v1=" + hex.EncodeToString(sign(secret, t, body))
}

// StandardSignature is the value of the Webhook-Signature header of the Standard Webhooks convention, for
// receivers that use one of its libraries. Their secret is the base64 of the same text.
func StandardSignature(secret, id string, at time.Time, body []byte) string {
	t := strconv.FormatInt(at.Unix(), 10)
	return "v1," + base64.StdEncoding.EncodeToString(sign(secret, id+"."+t, body))
}

func sign(secret, prefix string, body []byte) []byte {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(prefix))
	mac.Write([]byte{'.'})
	mac.Write(body)
	return mac.Sum(nil)
}
