package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/partnergifting/platform/pkg/settings"
)

// readyTimeout bounds the question of the command ready.
const readyTimeout = 2 * time.Second

var errNotReady = errors.New("not ready")

// ready asks the metrics port of the program that serves beside it: a container that holds nothing
// but this program has nothing else to ask with.
func (p Program[C, S]) ready(ctx context.Context, cfg *C) error {
	if err := settings.Load(cfg); err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(p.Telemetry(*cfg).MetricsAddr)
	if err != nil {
		return fmt.Errorf("metrics port: %w", err)
	}
	if ip := net.ParseIP(host); host == "" || ip.IsUnspecified() {
		host = "localhost"
	}
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/readyz", http.NoBody)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("%w: %w", errNotReady, err)
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: %s", errNotReady, res.Status)
	}
	return nil
}
