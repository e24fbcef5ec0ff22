package deps

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
)

const (
	// externalDir holds data that root keeps below a directory the server's user cannot enter, such as /root.
	externalDir = "/var/lib/partner-gifting-local"
	// externalLink is a link in the data directory to the external data, so that both can be removed together.
	externalLink = "external"
)

// home returns the directory that holds the data of dir and that the user can enter: dir itself where possible.
func home(log *slog.Logger, dir string, user *serverUser) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("data directory: %w", err)
	}
	hash := sha256.Sum256([]byte(dir))
	external := filepath.Join(externalDir, hex.EncodeToString(hash[:8]))
	for _, candidate := range []string{dir, external} {
		if err := os.MkdirAll(candidate, 0o755); err != nil { //nolint:gosec // The server's user has to pass through.
			return "", fmt.Errorf("data directory: %w", err)
		}
		reached, err := user.reaches(candidate)
		if err != nil {
			return "", fmt.Errorf("data directory: %w", err)
		}
		if !reached {
			continue
		}
		if candidate == external {
			if err := os.Symlink(external, filepath.Join(dir, externalLink)); err != nil && !errors.Is(err, os.ErrExist) {
				return "", fmt.Errorf("data directory: %w", err)
			}
			log.Info("the server's user cannot enter the data directory, using another one", "user", user.name, "directory", dir, "used",
				external)
		}
		return candidate, nil
	}
	return "", fmt.Errorf("user %s, as whom the server runs, cannot enter %s nor %s: use a data directory that is open to it, "+
		"or start as an ordinary user", user.name, dir, external)
}

// RemoveData deletes the data directory of stopped servers, or of one, and the external data that it links to.
func RemoveData(dir string) error {
	for _, pattern := range []string{externalLink, filepath.Join("*", externalLink)} {
		links, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return fmt.Errorf("remove data: %w", err)
		}
		for _, link := range links {
			other, err := os.Readlink(link)
			if err != nil || filepath.Dir(other) != externalDir {
				continue // The link is not one of this package.
			}
			if err := os.RemoveAll(other); err != nil {
				return fmt.Errorf("remove data: %w", err)
			}
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove data: %w", err)
	}
	return nil
}
