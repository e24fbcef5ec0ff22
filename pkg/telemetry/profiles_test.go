package telemetry_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/testenv"
)

func TestProfilesAreServedOnLoopbackOrWhereASettingSaysSo(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		host    string
		setting bool
		status  int
	}{
		"loopback":                        {"127.0.0.1", false, http.StatusOK},
		"all addresses":                   {"", false, http.StatusNotFound},
		"an address of the network":       {"0.0.0.0", false, http.StatusNotFound},
		"all addresses, with the setting": {"", true, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) { // One after another: a process makes one profile of its processor time at once.
			addr := testenv.FreeAddr(t)
			_, port, err := net.SplitHostPort(addr)
			require.NoError(t, err)
			cfg := telemetry.Config{MetricsAddr: net.JoinHostPort(c.host, port), Profiling: c.setting}
			tel, err := telemetry.New(t.Context(), "example", cfg, io.Discard)
			require.NoError(t, err)
			ctx, stop := context.WithCancel(t.Context())
			served := make(chan error, 1)
			go func() { served <- tel.Serve(ctx, func(context.Context) error { return nil }) }()
			live := func() bool { return statusOf(t, "http://"+addr+"/livez") == http.StatusOK }
			require.Eventually(t, live, 30*time.Second, 5*time.Millisecond)
			for _, path := range []string{"", "heap", "goroutine", "profile?seconds=1", "trace?seconds=0.1"} {
				require.Equal(t, c.status, statusOf(t, "http://"+addr+"/debug/pprof/"+path), path)
			}
			stop()
			require.NoError(t, <-served)
		})
	}
}

// statusOf returns the status of the answer, or 0 without one.
func statusOf(t *testing.T, url string) int {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
	require.NoError(t, err)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0
	}
	_, err = io.Copy(io.Discard, res.Body)
	require.NoError(t, errors.Join(err, res.Body.Close()))
	return res.StatusCode
}
