package local

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/daemon"
)

var errTest = errors.New("broken on purpose")

func always(context.Context) error { return nil }

func never(context.Context) error { return errNotReady }

func untilEnd(ctx context.Context) error {
	<-ctx.Done()
	return nil
}

func TestSequence(t *testing.T) {
	t.Parallel()
	setup := func() *sequence { return newSequence(slog.New(slog.DiscardHandler)) }

	t.Run("stops in reverse order, one part after another", func(t *testing.T) {
		s := setup()
		var stopped []string
		s.add("server", nil, func(context.Context) error {
			stopped = append(stopped, "server")
			return nil
		})
		for _, name := range []string{"first", "second"} {
			require.NoError(t, s.start(t.Context(), daemon.Part{Name: name, Run: func(ctx context.Context) error {
				<-ctx.Done()
				stopped = append(stopped, name)
				return nil
			}}, always))
		}
		require.NoError(t, s.stop(t.Context()))
		require.Equal(t, []string{"second", "first", "server"}, stopped)
	})
	t.Run("parts outlive the context of their start", func(t *testing.T) {
		s := setup()
		ctx, cancel := context.WithCancel(t.Context())
		alive := make(chan struct{})
		require.NoError(t, s.start(ctx, daemon.Part{Name: "part", Run: func(ctx context.Context) error {
			for {
				select {
				case <-ctx.Done():
					return nil
				case alive <- struct{}{}:
				}
			}
		}}, always))
		cancel()
		<-alive
		<-alive
		require.NoError(t, s.stop(ctx))
	})
	t.Run("a part that ends before it is ready fails its start", func(t *testing.T) {
		s := setup()
		err := s.start(t.Context(), daemon.Part{Name: "part", Run: func(context.Context) error { return errTest }}, never)
		require.ErrorIs(t, err, errTest)
	})
	t.Run("a part that never becomes ready fails with the context", func(t *testing.T) {
		s := setup()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		require.ErrorIs(t, s.start(ctx, daemon.Part{Name: "part", Run: untilEnd}, never), errNotReady)
		require.NoError(t, s.stop(t.Context()))
	})
	t.Run("a part that ends later is reported", func(t *testing.T) {
		s := setup()
		broken := make(chan struct{})
		require.NoError(t, s.start(t.Context(), daemon.Part{Name: "part", Run: func(context.Context) error {
			<-broken
			return errTest
		}}, always))
		close(broken)
		require.ErrorIs(t, <-s.failed, errTest)
	})
	t.Run("a server that exits is reported, one that was stopped is not", func(t *testing.T) {
		s := setup()
		exited := make(chan struct{})
		s.add("server", exited, func(context.Context) error { return nil })
		close(exited)
		require.ErrorIs(t, <-s.failed, errExited)

		s = setup()
		exited = make(chan struct{})
		s.add("server", exited, func(context.Context) error {
			close(exited)
			return nil
		})
		require.NoError(t, s.stop(t.Context()))
		require.Empty(t, s.failed)
	})
}
