package deps

import (
	"context"
	"errors"
	"path/filepath"
)

var errNoFaketime = errors.New("libfaketime is not installed")

// Faketime returns the path of libfaketime, for tests of clocks. Where packages may be installed, it installs the distribution's.
func Faketime(ctx context.Context) (string, error) {
	path := findFaketime()
	if path != "" {
		return path, nil
	}
	if err := installPackages(ctx, "libfaketime"); err != nil {
		return "", errors.Join(errNoFaketime, err)
	}
	if path = findFaketime(); path == "" {
		return "", errNoFaketime
	}
	return path, nil
}

func findFaketime() string {
	for _, pattern := range []string{"/usr/lib/*/faketime/libfaketime.so.1", "/usr/lib*/faketime/libfaketime.so.1"} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 { // the pattern is well formed
			return found[0]
		}
	}
	return ""
}
