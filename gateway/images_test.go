package gateway_test

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// imageStore stands for the catalog: one image, which can be closed.
type imageStore struct {
	mu     sync.Mutex
	closed bool
	reads  int
}

func (s *imageStore) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

func (s *imageStore) asked() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.reads
}

func (b *backend) GetImage(_ context.Context, r *catalogv1.GetImageRequest) (*catalogv1.GetImageResponse, error) {
	b.images.mu.Lock()
	defer b.images.mu.Unlock()
	b.images.reads++
	if r.GetFileId() != "known" || b.images.closed {
		return nil, problem.RecordNotFound()
	}
	resp := &catalogv1.GetImageResponse{ContentType: "image/png", Digest: "d1", Size: 5}
	if !r.GetHeadOnly() {
		resp.Content = []byte("bytes")
	}
	return resp, nil
}

// image asks for the image without a key.
func (f *fixture) image(method string, headers ...string) answer {
	f.t.Helper()
	return f.do(method, "/catalog/images/known", "", append([]string{"Authorization", ""}, headers...)...)
}

func TestImagesNeedNoKey(t *testing.T) {
	f := setup(t)
	got := f.image("GET", "Accept", "image/png")
	require.Equal(t, 200, got.status)
	require.Equal(t, "bytes", got.body)
	for name, want := range map[string]string{
		"Content-Type": "image/png", "Content-Length": "5", "ETag": `"d1"`, "Accept-Ranges": "bytes",
		"Cache-Control": "public, max-age=31536000, immutable", "X-Content-Type-Options": "nosniff",
		"RateLimit-Policy": `"images";q=600;w=60`,
	} {
		require.Equal(t, want, got.header.Get(name), name)
	}
	require.NotEmpty(t, got.header.Get("Request-Id"))
	for _, path := range []string{"/catalog/images/other", "/catalog/images/", "/catalog/images/x/known", "/catalog/images/x%2Fknown", "/catalog/images/%ff"} {
		missing := f.do("GET", path, "", "Authorization", "")
		require.Equal(t, 404, missing.status, path)
		require.Equal(t, "not_found", missing.parsed["code"])
		require.Equal(t, "no-store", missing.header.Get("Cache-Control"))
		require.NotEmpty(t, missing.header.Get("RateLimit"))
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS", "PATCH"} {
		refused := f.image(method)
		require.Equal(t, 405, refused.status, method)
		require.Equal(t, "GET, HEAD", refused.header.Get("Allow"))
		require.Equal(t, "method_not_allowed", refused.parsed["code"])
		require.NotEmpty(t, refused.header.Get("RateLimit"), "a refused method counts too")
	}
}

func TestPartsOfImages(t *testing.T) {
	f := setup(t)
	for header, want := range map[string]struct {
		status            int
		body, contentPart string
	}{
		"bytes=1-2":     {206, "yt", "bytes 1-2/5"},
		"bytes=3-":      {206, "es", "bytes 3-4/5"},
		"bytes=-1":      {206, "s", "bytes 4-4/5"},
		"bytes=2-1":     {200, "bytes", ""},
		"bytes=a-b":     {200, "bytes", ""},
		"bytes=0-0,2-2": {200, "bytes", ""},
		"lines=1-2":     {200, "bytes", ""},
	} {
		got := f.image("GET", "Range", header)
		require.Equal(t, want.status, got.status, header)
		require.Equal(t, want.body, got.body, header)
		require.Equal(t, want.contentPart, got.header.Get("Content-Range"), header)
		require.Equal(t, "image/png", got.header.Get("Content-Type"))
		require.Equal(t, `"d1"`, got.header.Get("ETag"))
		require.Equal(t, "nosniff", got.header.Get("X-Content-Type-Options"))
	}
	t.Run("of a copy that is another's are not answered", func(t *testing.T) {
		require.Equal(t, 206, f.image("GET", "Range", "bytes=1-2", "If-Range", `"d1"`).status)
		require.Equal(t, "bytes", f.image("GET", "Range", "bytes=1-2", "If-Range", `"d2"`).body)
	})
	t.Run("behind its end are a problem", func(t *testing.T) {
		got := f.image("GET", "Range", "bytes=5-")
		require.Equal(t, 416, got.status)
		require.Equal(t, "application/problem+json", got.header.Get("Content-Type"))
		require.Equal(t, "range_not_satisfiable", got.parsed["code"])
		require.Equal(t, "bytes */5", got.header.Get("Content-Range"))
		require.Equal(t, "no-store", got.header.Get("Cache-Control"))
		require.Empty(t, got.header.Get("ETag"))
	})
	t.Run("are for GET alone", func(t *testing.T) {
		got := f.image("HEAD", "Range", "bytes=1-2")
		require.Equal(t, 200, got.status)
		require.Equal(t, "5", got.header.Get("Content-Length"))
		require.Empty(t, got.header.Get("Content-Range"))
	})
}

func TestWhoHasAnImageCostsTheCatalogNothing(t *testing.T) {
	f := setup(t)
	require.Equal(t, 304, f.image("GET", "If-None-Match", `"d1"`).status, "also of an image this gateway has not seen")
	require.Equal(t, 1, f.images.asked())
	for _, names := range []string{`"d1"`, `W/"d1"`, `"other", "d1"`, "*"} {
		got := f.image("GET", "If-None-Match", names, "Range", "bytes=9-")
		require.Equal(t, 304, got.status, names)
		require.Empty(t, got.body)
		require.Equal(t, `"d1"`, got.header.Get("ETag"))
		require.Equal(t, "public, max-age=31536000, immutable", got.header.Get("Cache-Control"))
		require.Empty(t, got.header.Get("Content-Type"))
	}
	head := f.image("HEAD")
	require.Equal(t, 200, head.status)
	require.Equal(t, "5", head.header.Get("Content-Length"))
	require.Equal(t, "image/png", head.header.Get("Content-Type"))
	require.Equal(t, 1, f.images.asked())
	require.Equal(t, "bytes", f.image("GET", "If-None-Match", `"another"`).body)
	t.Run("until its bytes are asked for after it was closed", func(t *testing.T) {
		f.images.close()
		require.Equal(t, 304, f.image("GET", "If-None-Match", `"d1"`).status, "for a minute")
		require.Equal(t, 404, f.image("GET").status, "its bytes at once")
		require.Equal(t, 404, f.image("GET", "If-None-Match", `"d1"`).status)
	})
}

func TestAnAddressHas600ImagesAMinute(t *testing.T) {
	f := setup(t)
	client := f.clientAt(net.IPv4(127, randomByte(), randomByte(), 7))
	read := func() answer {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.base+"/catalog/images/known", http.NoBody)
		require.NoError(t, err)
		req.Header.Set("X-Forwarded-For", uuid.NewString()) // The caller's own words count for nothing.
		resp, err := client.Do(req)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return answer{status: resp.StatusCode, header: resp.Header}
	}
	for range 600 {
		require.Equal(t, http.StatusOK, read().status)
	}
	refused := read()
	require.Equal(t, http.StatusTooManyRequests, refused.status)
	require.NotEmpty(t, refused.header.Get("Retry-After"))
	require.Contains(t, refused.header.Get("RateLimit"), `"images";r=0;t=`)
	require.Equal(t, 200, f.image("GET").status, "another address")
	require.Equal(t, 200, f.do("GET", "/me", "").status, "a key is not held to it")
}

// clientAt calls from an address of its own, whose limit no other test takes from.
func (f *fixture) clientAt(ip net.IP) *http.Client {
	dialer := &net.Dialer{LocalAddr: &net.TCPAddr{IP: ip}}
	transport := &http.Transport{DialContext: dialer.DialContext}
	f.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

func randomByte() byte { return byte(rand.IntN(254)) }
