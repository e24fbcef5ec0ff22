package release

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"
)

// nobody is the user of the image.
const nobody = 65532

// Image packs the programs into an OCI image layout. The folder of programs has a folder for each architecture.
//
// There is one image with the programs of all services, the gateway and giftingctl: they have the same version, so there is
// only one to scan, sign and mirror. The command says what a container runs, such as /orders serve or /orders migrate. It has no
// base image: it holds the programs and root certificates, but no shell, no packages and no other user, and runs with a read-only
// root.
func (r Release) Image(programs, into string) error {
	architectures, err := os.ReadDir(programs)
	if err != nil {
		return err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, architecture := range architectures {
		image, err := r.image(architecture.Name(), filepath.Join(programs, architecture.Name()))
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add:        image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: architecture.Name()}},
		})
	}
	_, err = layout.Write(into, mutate.Annotations(index, r.labels()).(v1.ImageIndex))
	return err
}

// Archive packs the programs for this machine into an image that `docker load` reads.
func (r Release) Archive(programs, named, into string) error {
	tag, err := name.NewTag(named)
	if err != nil {
		return err
	}
	image, err := r.image(runtime.GOARCH, filepath.Join(programs, runtime.GOARCH))
	if err != nil {
		return err
	}
	return tarball.WriteToFile(into, tag, image)
}

func (r Release) labels() map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":    "Partner Gifting",
		"org.opencontainers.image.version":  r.Version,
		"org.opencontainers.image.revision": r.Revision,
		"org.opencontainers.image.created":  r.Time.Format(time.RFC3339),
		"org.opencontainers.image.source":   "https://github.com/partnergifting/platform",
		"org.opencontainers.image.licenses": "Apache-2.0",
	}
}

func (r Release) image(architecture, programs string) (v1.Image, error) {
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		reader, writer := io.Pipe()
		go func() { writer.CloseWithError(r.writeRoot(writer, programs)) }()
		return reader, nil
	}, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err = mutate.ConfigFile(image, &v1.ConfigFile{
		OS: "linux", Architecture: architecture, Created: v1.Time{Time: r.Time}, RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User:         "65532:65532",
			ExposedPorts: map[string]struct{}{"8080/tcp": {}, "9000/tcp": {}, "9090/tcp": {}},
			Labels:       r.labels(),
		},
	})
	if err != nil {
		return nil, err
	}
	history := v1.History{Created: v1.Time{Time: r.Time}, CreatedBy: "make image"}
	return mutate.Append(image, mutate.Addendum{Layer: layer, History: history})
}

// writeRoot writes the files of the image as a tar archive.
func (r Release) writeRoot(w io.Writer, programs string) error {
	archive := tar.NewWriter(w)
	add := func(kind byte, name string, owner int, mode int64, content []byte) error {
		return errors.Join(archive.WriteHeader(&tar.Header{
			Typeflag: kind, Name: name, Uid: owner, Gid: owner, Mode: mode, Size: int64(len(content)),
			ModTime: r.Time, Format: tar.FormatPAX,
		}), write(archive, content))
	}
	for _, folder := range []struct {
		name  string
		owner int
	}{
		{"etc/", 0},
		{"etc/ssl/", 0},
		{"etc/ssl/certs/", 0},
		{"var/", 0},
		{"var/lib/", 0},
		{"var/lib/gifting/", 0},
		// Where volumes are mounted: the certificates of deploy/compose.yaml, and the images of the catalog.
		{"var/lib/gifting/certificates/", nobody},
		{"var/lib/gifting/images/", nobody},
	} {
		if err := add(tar.TypeDir, folder.name, folder.owner, 0o755, nil); err != nil {
			return err
		}
	}
	if err := add(tar.TypeReg, "etc/ssl/certs/ca-certificates.crt", 0, 0o644, rootCertificates()); err != nil {
		return err
	}
	files, err := os.ReadDir(programs) // Sorted by name.
	if err != nil {
		return err
	}
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(programs, file.Name())) //nolint:gosec // The caller has built it.
		if err != nil {
			return err
		}
		if err := add(tar.TypeReg, file.Name(), 0, 0o755, content); err != nil {
			return err
		}
	}
	return archive.Close()
}

func write(w io.Writer, content []byte) error {
	_, err := w.Write(content)
	return err
}

// rootCertificates are those that Mozilla trusts without conditions, in the version that go.mod pins.
func rootCertificates() []byte {
	var text bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&text, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // A write to memory does not fail.
		}
	}
	return text.Bytes()
}
