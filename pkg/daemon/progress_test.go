package daemon_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/daemon"
)

func TestABarShowsTheShareThatIsDone(t *testing.T) {
	t.Parallel()
	var shown strings.Builder
	bar := daemon.NewProgressBar(&shown, "orders checked", 200)
	bar.Add(100)
	require.Equal(t, "\r[===============               ]  50 % orders checked", shown.String())
	bar.Add(1)
	require.Equal(t, 1, strings.Count(shown.String(), "\r"), "not more often than a person sees")
	bar.Add(150)
	bar.End()
	bar.End()
	require.True(t, strings.HasSuffix(shown.String(), "\r[==============================] 100 % orders checked\n"), shown.String())
	require.Equal(t, 251, bar.Done())
}

func TestABarWithoutATotalShowsANumber(t *testing.T) {
	t.Parallel()
	var shown strings.Builder
	bar := daemon.NewProgressBar(&shown, "bytes written", 0)
	bar.Add(7)
	bar.End()
	require.Equal(t, "\r7 bytes written\r7 bytes written\n", shown.String())
}

func TestOnlyATerminalShowsABar(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	defer func() { require.NoError(t, file.Close()) }()
	require.Equal(t, io.Discard, daemon.OnTerminal(&strings.Builder{}))
	require.Equal(t, file, daemon.ProgressLines(file))
	daemon.NewProgressBar(daemon.OnTerminal(file), "x", 1).End()
	info, err := file.Stat()
	require.NoError(t, err)
	require.Zero(t, info.Size())
}
