package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

const (
	headerTimeout   = 5 * time.Second
	shutdownTimeout = 5 * time.Second
)

// Serve answers /metrics, /livez and /readyz on the metrics port until ctx ends. ready says whether
// the service can do its work now; it must not wait long.
func (t *Telemetry) Serve(ctx context.Context, ready func(ctx context.Context) error) error {
	if t.metricsAddr == "" {
		<-ctx.Done()
		return nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", t.metricsAddr)
	if err != nil {
		return fmt.Errorf("metrics port: %w", err)
	}
	server := &http.Server{Handler: t.handler(ready), ReadHeaderTimeout: headerTimeout}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("metrics port: %w", err)
	}
	return nil
}

func (t *Telemetry) handler(ready func(ctx context.Context) error) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(t.registry, promhttp.HandlerOpts{EnableOpenMetrics: true}))
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := ready(r.Context()); err != nil {
			t.Logger.WarnContext(r.Context(), "not ready", "error", err)
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	return mux
}
