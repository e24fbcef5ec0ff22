// Command catalog serves gifts, prices, images, campaigns and stock.
package main

import (
	"context"
	"os"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/catalog"
)

func main() {
	var cfg catalog.Config
	os.Exit(daemon.Main(os.Args, os.Stderr, &cfg,
		daemon.Command{Name: "serve", Short: "serve gRPC and metrics", Run: func(ctx context.Context) error { return serve(ctx, &cfg) }},
		daemon.Command{Name: "migrate", Short: "bring the database up to date", Run: func(ctx context.Context) error { return migrate(ctx, &cfg) }},
	))
}

func serve(ctx context.Context, cfg *catalog.Config) error {
	if err := settings.Load(cfg); err != nil {
		return err
	}
	tel, err := telemetry.New(ctx, "catalog", cfg.Telemetry, os.Stderr)
	if err != nil {
		return err
	}
	service, err := catalog.New(ctx, *cfg, tel)
	if err != nil {
		return err
	}
	return service.Run(ctx)
}

func migrate(ctx context.Context, cfg *catalog.Config) error {
	if err := settings.Load(cfg); err != nil {
		return err
	}
	return catalog.Migrate(ctx, *cfg)
}
