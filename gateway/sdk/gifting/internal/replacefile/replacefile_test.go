package replacefile_test

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/gateway/sdk/gifting/internal/replacefile"
)

func TestAFileIsReplacedAtOnce(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "file")
	victim := filepath.Join(folder, "victim")
	require.NoError(t, os.WriteFile(victim, []byte("precious"), 0o600))
	require.NoError(t, os.Symlink(victim, path+".next"))
	var writers sync.WaitGroup
	for _, letter := range "abcdefgh" {
		writers.Go(func() {
			content := make([]byte, 1<<20)
			for i := range content {
				content[i] = byte(letter)
			}
			if err := replacefile.Write(path, content, 0o600); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()

	content, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Len(t, content, 1<<20)
	for _, letter := range content {
		require.Equal(t, content[0], letter)
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	kept, err := os.ReadFile(victim)
	require.NoError(t, err)
	require.Equal(t, "precious", string(kept), "a link that was prepared is not followed")
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, files, 3, "nothing is left over")
}

func TestAFileThatCannotBeReplacedStays(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "folder")
	require.NoError(t, os.MkdirAll(filepath.Join(path, "full"), 0o700))
	require.Error(t, replacefile.Write(path, nil, 0o600))
	require.Error(t, replacefile.Write(filepath.Join(folder, "none", "file"), nil, 0o600))
	files, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Len(t, files, 1)
}
