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

// elsewhere is where data goes that root keeps below a directory the server's user cannot enter, such as /root.
const elsewhere = "/var/lib/partner-gifting-local"

// elsewhereLink stands in the data directory and leads to the data, so that whoever removes one finds the other.
const elsewhereLink = "elsewhere"

// home returns the directory that holds the data of dir and that the user can reach: dir itself where possible.
func home(log *slog.Logger, dir string, user *serverUser) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("data directory: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // the server's user has to pass through
		return "", fmt.Errorf("data directory: %w", err)
	}
	reached, err := user.reaches(dir)
	if err != nil {
		return "", fmt.Errorf("data directory: %w", err)
	}
	if reached {
		return dir, nil
	}
	return homeElsewhere(log, dir, user)
}

func homeElsewhere(log *slog.Logger, dir string, user *serverUser) (string, error) {
	name := sha256.Sum256([]byte(dir))
	other := filepath.Join(elsewhere, hex.EncodeToString(name[:8]))
	if err := os.MkdirAll(other, 0o755); err != nil { //nolint:gosec // the server's user has to pass through
		return "", fmt.Errorf("data directory: %w", err)
	}
	reached, err := user.reaches(other)
	if err != nil {
		return "", fmt.Errorf("data directory: %w", err)
	}
	if !reached {
		return "", fmt.Errorf("user %s, as whom the server runs, cannot enter %s nor %s: put the data somewhere open "+
			"to it, or start as an ordinary user", user.name, dir, other)
	}
	if err := os.Symlink(other, filepath.Join(dir, elsewhereLink)); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("data directory: %w", err)
	}
	log.Info("data is kept elsewhere, for the server's user cannot enter the directory", "user", user.name,
		"directory", dir, "kept", other)
	return other, nil
}

// RemoveData deletes a directory that holds the data of stopped dependencies, or of one, together with what is kept
// elsewhere for them.
func RemoveData(dir string) error {
	for _, pattern := range []string{elsewhereLink, filepath.Join("*", elsewhereLink)} {
		links, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return fmt.Errorf("remove data: %w", err)
		}
		for _, link := range links {
			other, err := os.Readlink(link)
			if err != nil || filepath.Dir(other) != elsewhere {
				continue // not a link of ours
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
