package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/partnergifting/platform/gateway/internal/httperror"
)

var errNotServing = errors.New("the HTTP server is not listening yet, or is shutting down")

func (g *Gateway) ready(context.Context) error {
	if !g.serving.Load() || g.ending.Load() {
		return errNotServing
	}
	return nil
}

func (g *Gateway) serve(ctx context.Context) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", g.cfg.HTTPAddr)
	if err != nil {
		return fmt.Errorf("http port: %w", err)
	}
	g.tel.Logger.InfoContext(ctx, "serving REST", "addr", listener.Addr().String(), "environment", g.cfg.Environment)
	g.serving.Store(true)
	drained := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { drained <- g.drain(context.WithoutCancel(ctx)) })
	defer stop()
	if err := g.server.Serve(httperror.Listener{Listener: listener, Writer: g.errors}); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("http server: %w", err)
	}
	return <-drained
}

func (g *Gateway) drain(ctx context.Context) error {
	g.ending.Store(true)
	g.tel.Logger.InfoContext(ctx, "shutting down: requests are still accepted", "lame_duck", g.cfg.LameDuck)
	<-time.After(g.cfg.LameDuck)
	ctx, cancel := context.WithTimeout(ctx, g.cfg.DrainTimeout)
	defer cancel()
	if err := g.server.Shutdown(ctx); err != nil {
		g.tel.Logger.WarnContext(ctx, "requests in flight are aborted", "error", err)
		return g.server.Close()
	}
	return nil
}

// closeWhenEnding announces in the response that its connection will close. Without that, the caller might already be sending
// its next request on it.
func (g *Gateway) closeWhenEnding(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.ending.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
