package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// openTerminal opens a terminal on which nothing is typed. It is never closed, because a prompt that was interrupted still reads
// from it.
func openTerminal(t *testing.T) int {
	t.Helper()
	keyboard, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(keyboard, unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(keyboard, unix.TIOCGPTN)
	require.NoError(t, err)
	opened, err := unix.Open(fmt.Sprintf("/dev/pts/%d", number), unix.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	return opened
}

func TestAnInterruptedPromptRestoresTheTerminal(t *testing.T) {
	t.Parallel()
	input := openTerminal(t)
	before, err := term.GetState(input)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	prompt := make(chan error, 1)
	go func() {
		_, err := readSecret(ctx, input)
		prompt <- err
	}()
	state := func() *term.State {
		now, err := term.GetState(input)
		require.NoError(t, err)
		return now
	}
	hidden := func() bool { return *state() != *before }
	require.Eventually(t, hidden, 10*time.Second, time.Millisecond, "the prompt shows what is typed")
	cancel()
	select {
	case err := <-prompt:
		require.ErrorIs(t, err, context.Canceled)
	case <-time.After(10 * time.Second):
		require.Fail(t, "the prompt goes on")
	}
	require.Equal(t, before, state())
}
