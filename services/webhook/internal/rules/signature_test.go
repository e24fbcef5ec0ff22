package rules_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/webhook/internal/rules"
)

// The expected values were computed with OpenSSL, so that the code does not check itself:
//
//	printf %s "$T.$BODY" | openssl dgst -sha256 -hmac "$SECRET"
//	printf %s "$ID.$T.$BODY" | openssl dgst -sha256 -hmac "$SECRET" -binary | base64
func TestSignaturesEqualThoseOfOpenSSL(t *testing.T) {
	t.Parallel()
	const (
		id   = "018f0000-0000-7000-8000-000000000001"
		body = `{"id":"018f0000-0000-7000-8000-000000000001","type":"ping","data":{}}`
	)
	secret := strings.Repeat("0123456789abcdef", 4)
	at := time.Unix(1767225600, 999_999_000)

	require.Equal(t, "t=1767225600,v1=9fde9d9e46d555885e567a1702771c0513ea2155d474ff782a0e9d6d7ddb4abb",
		rules.Signature(secret, at, []byte(body)))
	require.Equal(t, "v1,z2eLRDuxl1rw0BJPdij0XLlznUlAZwMVgSQk/XKd8Yk=",
		rules.StandardSignature(secret, id, at, []byte(body)))
}
