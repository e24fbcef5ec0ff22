package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/partnergifting/platform/gateway/internal/problems"
)

var errNotServing = errors.New("the HTTP server does not listen yet, or is about to end")

func (g *Gateway) ready(context.Context) error {
	if !g.serving.Load() || g.leaving.Load() {
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
	if err := g.server.Serve(problems.Listener{Listener: listener, Writer: g.writer}); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("http server: %w", err)
	}
	return <-drained
}

func (g *Gateway) drain(ctx context.Context) error {
	g.leaving.Store(true)
	g.tel.Logger.InfoContext(ctx, "ending: requests are taken a little longer", "lame_duck", g.cfg.LameDuck)
	<-time.After(g.cfg.LameDuck)
	timeout := g.cfg.DrainTimeout
	if timeout == 0 {
		timeout = defaultDrainTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if err := g.server.Shutdown(ctx); err != nil {
		g.tel.Logger.WarnContext(ctx, "requests that still run are cut off", "error", err)
		return g.server.Close()
	}
	return nil
}

// hangUp closes the connection of each answer once the end has begun. The caller reads of it in the
// answer: closed without a word, a connection may already carry the caller's next request.
func (g *Gateway) hangUp(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if g.leaving.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
