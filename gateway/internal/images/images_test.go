package images_test

import (
	"math/rand/v2"
	"net"
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/internal/gatewaytest"
)

type fixture struct{ *gatewaytest.Fixture }

func setup(t *testing.T) fixture {
	t.Helper()
	return fixture{gatewaytest.New(t)}
}

// image reads the image without a key.
func (f fixture) image(method string, headers ...string) gatewaytest.Answer {
	return f.Do(method, "/catalog/images/known", "", append([]string{"Authorization", ""}, headers...)...)
}

func TestImagesNeedNoKey(t *testing.T) {
	t.Parallel()
	f := setup(t)
	got := f.image("GET", "Accept", "image/png")
	require.Equal(t, 200, got.Status)
	require.Equal(t, "bytes", got.Body)
	for name, want := range map[string]string{
		"Content-Type": "image/png", "Content-Length": "5", "ETag": `"d1"`, "Accept-Ranges": "bytes",
		"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff",
		"RateLimit-Policy": `"images";q=600;w=60`,
	} {
		require.Equal(t, want, got.Header.Get(name), name)
	}
	require.NotEmpty(t, got.Header.Get("Request-Id"))
	for _, path := range []string{
		"/catalog/images/other", "/catalog/images/", "/catalog/images/x/known", "/catalog/images/x%2Fknown",
		"/catalog/images/%ff",
	} {
		missing := f.Do("GET", path, "", "Authorization", "")
		require.Equal(t, 404, missing.Status, path)
		require.Equal(t, "not_found", missing.Parsed["code"])
		require.Equal(t, "no-store", missing.Header.Get("Cache-Control"))
		require.NotEmpty(t, missing.Header.Get("RateLimit"))
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "PATCH"} {
		refused := f.image(method)
		require.Equal(t, 405, refused.Status, method)
		require.Equal(t, "GET, HEAD", refused.Header.Get("Allow"))
		require.Equal(t, "method_not_allowed", refused.Parsed["code"])
		require.NotEmpty(t, refused.Header.Get("RateLimit"), "a refused method counts too")
	}
}

func TestRangesOfImages(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for header, want := range map[string]struct {
		status            int
		body, contentPart string
	}{
		"bytes=1-2":                    {206, "yt", "bytes 1-2/5"},
		"bytes=3-":                     {206, "es", "bytes 3-4/5"},
		"bytes=3-99999999999999999999": {206, "es", "bytes 3-4/5"},
		"bytes=-2":                     {206, "es", "bytes 3-4/5"},
		"bytes=-99":                    {206, "bytes", "bytes 0-4/5"},
		"BYTES=0-0":                    {206, "b", "bytes 0-0/5"},
		"bytes=2-1":                    {200, "bytes", ""},
		"bytes=-":                      {200, "bytes", ""},
		"bytes=0-1,3-4":                {200, "bytes", ""},
		"bytes=+1-2":                   {200, "bytes", ""},
		"items=0-1":                    {200, "bytes", ""},
		"bytes= 0-1":                   {200, "bytes", ""},
	} {
		got := f.image("GET", "Range", header)
		require.Equal(t, want.status, got.Status, header)
		require.Equal(t, want.body, got.Body, header)
		require.Equal(t, want.contentPart, got.Header.Get("Content-Range"), header)
		require.Equal(t, "image/png", got.Header.Get("Content-Type"))
		require.Equal(t, `"d1"`, got.Header.Get("ETag"))
		require.Equal(t, "nosniff", got.Header.Get("X-Content-Type-Options"))
	}
	t.Run("are ignored if the copy is of another version", func(t *testing.T) {
		require.Equal(t, 206, f.image("GET", "Range", "bytes=1-2", "If-Range", `"d1"`).Status)
		for _, other := range []string{`"d2"`, `W/"d1"`, "Sat, 21 Nov 2026 12:00:00 GMT"} {
			require.Equal(t, "bytes", f.image("GET", "Range", "bytes=1-2", "If-Range", other).Body, other)
		}
	})
	t.Run("after the end are an error", func(t *testing.T) {
		for _, outside := range []string{"bytes=5-", "bytes=7-9", "bytes=-0", "bytes=99999999999999999999-"} {
			got := f.image("GET", "Range", outside)
			require.Equal(t, 416, got.Status)
			require.Equal(t, "application/problem+json", got.Header.Get("Content-Type"))
			require.Equal(t, "range_not_satisfiable", got.Parsed["code"])
			require.Equal(t, "bytes */5", got.Header.Get("Content-Range"))
			require.Equal(t, "no-store", got.Header.Get("Cache-Control"))
			require.Empty(t, got.Header.Get("ETag"))
		}
	})
	t.Run("are for GET only", func(t *testing.T) {
		got := f.image("HEAD", "Range", "bytes=1-2")
		require.Equal(t, 200, got.Status)
		require.Equal(t, "5", got.Header.Get("Content-Length"))
		require.Empty(t, got.Header.Get("Content-Range"))
	})
}

func TestACopyThatIsCurrentIsNotSentAgain(t *testing.T) {
	t.Parallel()
	f := setup(t)
	for _, names := range []string{`"d1"`, `W/"d1"`, `"other", "d1"`, "*"} {
		got := f.image("GET", "If-None-Match", names, "Range", "bytes=9-")
		require.Equal(t, 304, got.Status, names)
		require.Empty(t, got.Body)
		require.Equal(t, `"d1"`, got.Header.Get("ETag"))
		require.Equal(t, "public, max-age=31536000, immutable", got.Header.Get("Cache-Control"))
		require.Empty(t, got.Header.Get("Content-Type"))
	}
	head := f.image("HEAD")
	require.Equal(t, 200, head.Status)
	require.Equal(t, "5", head.Header.Get("Content-Length"))
	require.Equal(t, "image/png", head.Header.Get("Content-Type"))
	require.Zero(t, f.ImageContents.Load(), "no content is read")
	require.Equal(t, "bytes", f.image("GET", "If-None-Match", `"another"`).Body)
}

func TestAnAddressHas600ImagesAMinute(t *testing.T) {
	t.Parallel()
	f := setup(t)
	client := clientAt(t, net.IPv4(127, randomByte(), randomByte(), 7))
	read := func() gatewaytest.Answer {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.BaseURL+"/catalog/images/known", http.NoBody)
		require.NoError(t, err)
		req.Header.Set("X-Forwarded-For", uuid.NewString()) // The header counts only from a trusted proxy.
		return f.Send(client.Do, req)
	}
	for range 600 {
		require.Equal(t, http.StatusOK, read().Status)
	}
	refused := read()
	require.Equal(t, http.StatusTooManyRequests, refused.Status)
	require.NotEmpty(t, refused.Header.Get("Retry-After"))
	require.Contains(t, refused.Header.Get("RateLimit"), `"images";r=0;t=`)
	require.Equal(t, 200, f.image("GET").Status, "another address")
	require.Equal(t, 200, f.Do("GET", "/me", "").Status, "requests with a key are not limited by address")
}

// clientAt calls from an address that no other test uses, so that it has its own limit.
func clientAt(t *testing.T, ip net.IP) *http.Client {
	t.Helper()
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: ip}}
	transport := &http.Transport{DialContext: dialer.DialContext}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func randomByte() byte { return byte(rand.IntN(254)) }

func TestAnImageOfAnotherCellIsFound(t *testing.T) {
	t.Parallel()
	f := setup(t)
	other := f.AddCell(t, "b")
	f.Image = "other"
	require.Equal(t, "bytes", f.image("GET").Body)
	other.Image = "other"
	require.Equal(t, 404, f.image("GET").Status)
}
