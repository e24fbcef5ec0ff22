package images_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/services/catalog/internal/images"
)

// run runs the check until the test ends.
func run(t *testing.T, address string) *images.Check {
	t.Helper()
	files, err := images.Open(t.Context(), address)
	require.NoError(t, err)
	check := images.NewCheck(files)
	require.Error(t, check.Ready(t.Context()))
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- check.Part(slog.New(slog.DiscardHandler)).Run(ctx) }()
	t.Cleanup(func() {
		stop()
		require.NoError(t, <-ended)
		require.NoError(t, files.Close())
	})
	return check
}

// namesCause reports whether the error says more than that the store is not ready yet.
func namesCause(err error) bool {
	return err != nil && len(err.Error()) > len("the image store (GIFTING_IMAGES_URL) has not taken a file yet: ")
}

func TestAStoreThatTakesNoFilesIsNotReadyUntilItDoes(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "images")
	files, err := images.Open(t.Context(), "file://"+filepath.ToSlash(dir)) // It makes the folder.
	require.NoError(t, err)
	require.NoError(t, files.Close())
	// A folder in which no file can be made, also by root: /proc is read-only for everybody.
	require.NoError(t, os.Remove(dir))
	require.NoError(t, os.Symlink("/proc/self/fdinfo", dir))
	check := run(t, "file://"+filepath.ToSlash(dir))
	require.Eventually(t, func() bool { return namesCause(check.Ready(t.Context())) }, 30*time.Second, time.Millisecond)
	require.ErrorContains(t, check.Ready(t.Context()), "GIFTING_IMAGES_URL")
	require.NoError(t, os.Remove(dir))
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.Eventually(t, func() bool { return check.Ready(t.Context()) == nil }, 30*time.Second, time.Millisecond)
}
