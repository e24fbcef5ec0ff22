// Command gateway runs the edge of the platform.
package main

import (
	"context"
	"os"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
)

func main() {
	var cfg gateway.Config
	os.Exit(daemon.Main(os.Args, os.Stderr, &cfg,
		daemon.Command{Name: "serve", Short: "serve the REST API", Run: func(ctx context.Context) error { return serve(ctx, &cfg) }},
	))
}

func serve(ctx context.Context, cfg *gateway.Config) error {
	if err := settings.Load(cfg); err != nil {
		return err
	}
	tel, err := telemetry.New(ctx, "gateway", cfg.Telemetry, os.Stderr)
	if err != nil {
		return err
	}
	edge, err := gateway.New(ctx, *cfg, tel)
	if err != nil {
		return err
	}
	return edge.Run(ctx)
}
