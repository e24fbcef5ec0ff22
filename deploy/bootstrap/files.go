package bootstrap

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Private is the mode of files that hold secrets, privateFolder that of their folders.
const (
	Private       = 0o600
	privateFolder = 0o700
)

// WriteFile replaces a file that only its owner may read. A reader, also after a crash, sees the old content or the new.
func WriteFile(path string, content []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // After a success the file no longer exists.
	_, err = file.Write(content)
	err = errors.Join(err, file.Chmod(Private), file.Sync(), file.Close())
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return os.Rename(file.Name(), path)
}
