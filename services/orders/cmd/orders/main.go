// Command orders runs the orders service.
package main

import (
	"context"
	"os"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/orders"
)

func main() {
	var cfg orders.Config
	os.Exit(daemon.Main(os.Args, os.Stderr, &cfg,
		daemon.Command{Name: "serve", Short: "serve gRPC", Run: func(ctx context.Context) error { return serve(ctx, &cfg) }},
		daemon.Command{Name: "migrate", Short: "bring the database up to date", Run: func(ctx context.Context) error {
			if err := settings.Load(&cfg); err != nil {
				return err
			}
			return orders.Migrate(ctx, cfg)
		}},
	))
}

func serve(ctx context.Context, cfg *orders.Config) error {
	if err := settings.Load(cfg); err != nil {
		return err
	}
	tel, err := telemetry.New(ctx, "orders", cfg.Telemetry, os.Stderr)
	if err != nil {
		return err
	}
	service, err := orders.New(ctx, *cfg, tel)
	if err != nil {
		return err
	}
	return service.Run(ctx)
}
