package images_test

import (
	"bytes"
	"crypto/rand"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"testing"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/catalog/internal/images"
)

// s3URL is a bucket of a server that speaks S3.
func s3URL(t *testing.T) string {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	backend := s3mem.New()
	require.NoError(t, backend.CreateBucket("gifting-images"))
	server := httptest.NewServer(gofakes3.New(backend).Server())
	t.Cleanup(server.Close)
	return "s3://gifting-images?region=us-east-1&use_path_style=true&hostname_immutable=true&prefix=images/" +
		"&endpoint=" + url.QueryEscape(server.URL)
}

// requireStored stores a small and a large file, each twice as a repeated request does, and reads them.
func requireStored(t *testing.T, files *images.Files) {
	t.Helper()
	large := make([]byte, 10<<20)
	_, err := rand.Read(large)
	require.NoError(t, err)
	for id, content := range map[string][]byte{"a1": []byte("small"), "b2": large} {
		for range 2 {
			require.NoError(t, files.Put(t.Context(), id, "image/png", content))
		}
		got, err := files.Get(t.Context(), id)
		require.NoError(t, err)
		require.True(t, bytes.Equal(content, got))
	}
}

func TestFilesAreStored(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("TMPDIR", "/no/folder/for/temporary/files") // The container image has none.
	for name, address := range map[string]string{
		"in a folder": "file://" + filepath.ToSlash(folder) + "/images",
		"in S3":       s3URL(t),
	} {
		t.Run(name, func(t *testing.T) {
			files, err := images.Open(t.Context(), address)
			require.NoError(t, err)
			requireStored(t, files)
			_, err = files.Get(t.Context(), "none")
			require.ErrorContains(t, err, "read image none")
			require.NoError(t, files.Close())
		})
	}
	_, err := images.Open(t.Context(), "ftp://images")
	require.ErrorContains(t, err, "open image store")
}
