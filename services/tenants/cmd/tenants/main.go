// Command tenants runs the tenants service.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/tenants"
)

func main() {
	var cfg tenants.Config
	os.Exit(daemon.Main(os.Args, os.Stderr, &cfg,
		daemon.Command{Name: "serve", Short: "answer gRPC calls until told to stop", Run: func(ctx context.Context) error {
			return serve(ctx, &cfg)
		}},
		daemon.Command{Name: "migrate", Short: "bring the database up to date", Run: func(ctx context.Context) error {
			if err := settings.Load(&cfg); err != nil {
				return err
			}
			return tenants.Migrate(ctx, cfg)
		}},
	))
}

func serve(ctx context.Context, cfg *tenants.Config) error {
	if err := settings.Load(cfg); err != nil {
		return err
	}
	tel, err := telemetry.New(ctx, "tenants", cfg.Telemetry, os.Stderr)
	if err != nil {
		return fmt.Errorf("telemetry: %w", err)
	}
	service, err := tenants.New(ctx, *cfg, tel)
	if err != nil {
		return err
	}
	return service.Run(ctx)
}
