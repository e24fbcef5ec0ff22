package inbox_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/inbox"
)

const secret = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// sign follows the specification, without the code under test.
func sign(secret string, at time.Time, body string) string {
	t := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(t + "." + body))
	return "t=" + t + ",v1=" + hex.EncodeToString(mac.Sum(nil))
}

func TestVerify(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_790_000_000, 0)
	const body = `{"id":"1"}`
	good := sign(secret, now, body)

	t.Run("a known signature fits", func(t *testing.T) {
		// Computed with OpenSSL: printf '1790000000.{"id":"1"}' | openssl dgst -sha256 -hmac "$secret"
		const known = "t=1790000000,v1=7b2437e7a7cfb6c4d9a2ef8ac5267bc9ce05b74b8974626970588643fb684189"
		require.True(t, inbox.Verify(secret, known, []byte(body), now))
	})
	t.Run("the clock may differ by five minutes either way", func(t *testing.T) {
		require.True(t, inbox.Verify(secret, good, []byte(body), now.Add(inbox.Tolerance)))
		require.True(t, inbox.Verify(secret, good, []byte(body), now.Add(-inbox.Tolerance)))
		require.False(t, inbox.Verify(secret, good, []byte(body), now.Add(inbox.Tolerance+time.Second)))
		require.False(t, inbox.Verify(secret, good, []byte(body), now.Add(-inbox.Tolerance-time.Second)))
	})
	t.Run("one of several signatures is enough", func(t *testing.T) {
		_, other, _ := strings.Cut(sign(strings.ToUpper(secret), now, body), ",")
		require.True(t, inbox.Verify(secret, good+","+other, []byte(body), now))
		require.True(t, inbox.Verify(strings.ToUpper(secret), good+","+other, []byte(body), now))
		require.False(t, inbox.Verify("another", good+","+other, []byte(body), now))
	})
	t.Run("another body, secret or time does not fit", func(t *testing.T) {
		require.False(t, inbox.Verify(secret, good, []byte(body+" "), now))
		require.False(t, inbox.Verify(strings.ToUpper(secret), good, []byte(body), now))
		require.False(t, inbox.Verify(secret, strings.Replace(good, "t=1790000000", "t=1790000001", 1), []byte(body), now))
	})
	for name, header := range map[string]string{
		"no header":       "",
		"no time":         good[strings.Index(good, "v1="):],
		"no signature":    "t=1790000000",
		"time not number": "t=now,v1=00",
		"no hex":          "t=1790000000,v1=zz",
		"time past int64": "t=99999999999999999999,v1=00",
		"far future":      sign(secret, time.Unix(1<<62, 0), body),
	} {
		t.Run("refuses a header with "+name, func(t *testing.T) {
			require.False(t, inbox.Verify(secret, header, []byte(body), now))
		})
	}
}
