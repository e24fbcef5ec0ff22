package daemon_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/daemon"
)

func TestPeriodicWorkRunsAtOnceAndGoesOnAfterAnError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ran int
		var log bytes.Buffer
		part := daemon.Every("sweep", time.Hour, slog.New(slog.NewTextHandler(&log, nil)), func(context.Context) error {
			ran++
			return errors.New("broken")
		})
		require.Equal(t, "sweep", part.Name)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- part.Run(ctx) }()
		synctest.Wait()
		require.Equal(t, 1, ran)
		require.Contains(t, log.String(), "work=sweep error=broken")
		<-time.After(2 * time.Hour)
		synctest.Wait()
		require.Equal(t, 3, ran)
		cancel()
		require.NoError(t, <-ended)
		require.Equal(t, 3, ran)
	})
}

func TestBatchesEndWithAShortOneOrAnError(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, tc := range map[string]struct {
		batches []int
		err     error
		left    int
	}{
		"nothing to do": {batches: []int{0, 5}, left: 1},
		"a short batch": {batches: []int{5, 5, 4, 5}, left: 1},
		"an error":      {batches: []int{5, 5}, err: broken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := daemon.InBatches(t.Context(), 5, func(_ context.Context, limit int) (int, error) {
				require.Equal(t, 5, limit)
				if len(tc.batches) == 0 {
					return 5, tc.err
				}
				n := tc.batches[0]
				tc.batches = tc.batches[1:]
				return n, nil
			})
			require.ErrorIs(t, err, tc.err)
			require.Len(t, tc.batches, tc.left)
		})
	}
}
