// Package release packs the programs as an image and the chart as an archive. Both depend on what they are made of and on the time
// of the commit only: packed again, they are the same to the byte.
package release

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"helm.sh/helm/v3/pkg/chart/loader"
)

// Release is one version, built from one commit.
type Release struct {
	Version, Revision string
	Time              time.Time
}

var (
	heading      = regexp.MustCompile(`(?m)^## (\d+\.\d+\.\d+)$`)
	errNoVersion = errors.New("the change log has no heading with a version, such as ## 1.0.0")
)

// Version is the version of the platform and of everything that is released with it: the newest one in the change log.
func Version(root string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, ".github", "CHANGELOG.md")) //nolint:gosec // A page of the repository.
	if err != nil {
		return "", err
	}
	found := heading.FindSubmatch(text)
	if found == nil {
		return "", errNoVersion
	}
	return string(found[1]), nil
}

// Chart packs the chart in a folder as `helm package` does, but with the time of the commit instead of the current time.
func (r Release) Chart(folder, archive string) error {
	chart, err := loader.LoadDir(folder)
	if err != nil {
		return err
	}
	if err := chart.Validate(); err != nil {
		return err
	}
	file, err := os.Create(archive) //nolint:gosec // The caller chooses it.
	if err != nil {
		return err
	}
	packed := gzip.NewWriter(file)
	files := tar.NewWriter(packed)
	for _, one := range chart.Raw {
		header := tar.Header{Name: chart.Name() + "/" + one.Name, Mode: 0o644, Size: int64(len(one.Data)), ModTime: r.Time}
		if err := errors.Join(files.WriteHeader(&header), write(files, one.Data)); err != nil {
			return errors.Join(err, file.Close())
		}
	}
	return errors.Join(files.Close(), packed.Close(), file.Close())
}
