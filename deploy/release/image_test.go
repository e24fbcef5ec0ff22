package release_test

import (
	"archive/tar"
	"crypto/x509"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/release"
)

func TestAnImageHasProgramsAndRootCertificatesAndIsPackedTheSameAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "programs", runtime.GOARCH), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "programs", runtime.GOARCH, "orders"), []byte("a program"), 0o600))
	r := release.Release{Version: "1.2.3", Revision: "0123abc", Time: time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)}
	var digests []string
	for _, into := range []string{filepath.Join(dir, "a"), filepath.Join(dir, "b")} {
		require.NoError(t, r.Image(filepath.Join(dir, "programs"), into))
		index, err := layout.ImageIndexFromPath(into)
		require.NoError(t, err)
		require.NoError(t, validate.Index(index))
		digest, err := index.Digest()
		require.NoError(t, err)
		digests = append(digests, digest.String())
	}
	require.Equal(t, digests[0], digests[1])

	packed := filepath.Join(dir, "docker.tar")
	require.NoError(t, r.Archive(filepath.Join(dir, "programs"), "partnergifting/platform:development", packed))
	image, err := tarball.ImageFromPath(packed, nil)
	require.NoError(t, err)
	require.NoError(t, validate.Image(image))
	config, err := image.ConfigFile()
	require.NoError(t, err)
	require.Equal(t, "65532:65532", config.Config.User)
	require.Equal(t, "0123abc", config.Config.Labels["org.opencontainers.image.revision"])
	layers, err := image.Layers()
	require.NoError(t, err)
	unpacked, err := layers[0].Uncompressed()
	require.NoError(t, err)
	content, owners := map[string]string{}, map[string]int{}
	archive := tar.NewReader(unpacked)
	for header, err := archive.Next(); !errors.Is(err, io.EOF); header, err = archive.Next() {
		require.NoError(t, err)
		text, err := io.ReadAll(archive)
		require.NoError(t, err)
		content[header.Name], owners[header.Name] = string(text), header.Uid
	}
	require.Equal(t, "a program", content["orders"])
	require.True(t, x509.NewCertPool().AppendCertsFromPEM([]byte(content["etc/ssl/certs/ca-certificates.crt"])))
	require.Equal(t, 65532, owners["var/lib/gifting/images/"])
	require.Zero(t, owners["orders"])
}
