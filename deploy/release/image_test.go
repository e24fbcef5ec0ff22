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

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/release"
)

var sample = release.Release{Version: "1.2.3", Revision: "0123abc", Time: time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)}

// pack packs a program, and returns the image as it is pushed and as Docker loads it.
func pack(t *testing.T) (v1.ImageIndex, v1.Image) {
	t.Helper()
	dir := t.TempDir()
	programs := filepath.Join(dir, "programs")
	require.NoError(t, os.MkdirAll(filepath.Join(programs, runtime.GOARCH), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(programs, runtime.GOARCH, "orders"), []byte("a program"), 0o600))
	require.NoError(t, sample.Image(programs, filepath.Join(dir, "image")))
	index, err := layout.ImageIndexFromPath(filepath.Join(dir, "image"))
	require.NoError(t, err)
	require.NoError(t, validate.Index(index))
	require.NoError(t, sample.Archive(programs, "partnergifting/platform:development", filepath.Join(dir, "docker.tar")))
	loaded, err := tarball.ImageFromPath(filepath.Join(dir, "docker.tar"), nil)
	require.NoError(t, err)
	require.NoError(t, validate.Image(loaded))
	return index, loaded
}

func TestTheSameIsPackedAgain(t *testing.T) {
	t.Parallel()
	first, loaded := pack(t)
	second, _ := pack(t)
	digests := make([]v1.Hash, 2)
	for i, index := range []v1.ImageIndex{first, second} {
		digest, err := index.Digest()
		require.NoError(t, err)
		digests[i] = digest
	}
	require.Equal(t, digests[0], digests[1])
	manifest, err := first.IndexManifest()
	require.NoError(t, err)
	require.Equal(t, "0123abc", manifest.Annotations["org.opencontainers.image.revision"])
	require.Equal(t, "linux/"+runtime.GOARCH, manifest.Manifests[0].Platform.String())
	config, err := loaded.ConfigName()
	require.NoError(t, err)
	pushed, err := first.Image(manifest.Manifests[0].Digest)
	require.NoError(t, err)
	require.Equal(t, manifestOf(t, pushed).Config.Digest, config)
}

func manifestOf(t *testing.T, image v1.Image) *v1.Manifest {
	t.Helper()
	manifest, err := image.Manifest()
	require.NoError(t, err)
	return manifest
}

func TestTheImageHasProgramsAndRootCertificates(t *testing.T) {
	t.Parallel()
	_, image := pack(t)
	config, err := image.ConfigFile()
	require.NoError(t, err)
	require.Equal(t, "65532:65532", config.Config.User)
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
