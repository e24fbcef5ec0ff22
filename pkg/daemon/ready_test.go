package daemon_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/telemetry"
)

//nolint:paralleltest // It sets environment variables.
func TestReadyAsksTheServingProcess(t *testing.T) {
	program := daemon.Program[config, *service]{
		Name: "example", Telemetry: func(cfg config) telemetry.Config { return cfg.Telemetry },
	}
	answer := http.StatusServiceUnavailable
	mux := http.NewServeMux()
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(answer) })
	server := httptest.NewServer(mux)
	_, port, _ := strings.Cut(server.Listener.Addr().String(), ":")
	t.Setenv("GIFTING_METRICS_ADDR", ":"+port)

	var out bytes.Buffer
	require.Equal(t, 1, daemon.RunProgram([]string{"example", "ready"}, &out, program))
	require.Contains(t, out.String(), "not ready: 503")
	answer = http.StatusOK
	require.Equal(t, 0, daemon.RunProgram([]string{"example", "ready"}, &out, program))
	server.Close()
	require.Equal(t, 1, daemon.RunProgram([]string{"example", "ready"}, &out, program))
}

func TestEveryProgramHasTheCommandVersion(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.Equal(t, 0, daemon.Main([]string{"example", "version"}, &out, &config{}))
	require.Equal(t, "(devel)\n", out.String())
}
