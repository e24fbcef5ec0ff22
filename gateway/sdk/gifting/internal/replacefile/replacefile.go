// Package replacefile replaces a file at once: a reader, or the next run after a crash, finds the old content or the new one.
package replacefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Write replaces a file. The new content is first in a file with a name of its own, which nobody can have prepared, and which a
// second process that does the same does not touch.
func Write(path string, content []byte, mode fs.FileMode) error {
	next, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".next*")
	if err != nil {
		return err
	}
	_, err = next.Write(content)
	err = errors.Join(err, next.Chmod(mode), next.Sync(), next.Close())
	if err == nil {
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(next.Name()))
	}
	return nil
}
