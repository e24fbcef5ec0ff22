// Command personal-links runs the personal-links service.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
	personallinks "github.com/partnergifting/platform/services/personal-links"
)

func main() {
	var cfg personallinks.Config
	os.Exit(daemon.Main(os.Args, os.Stderr, &cfg,
		daemon.Command{Name: "serve", Short: "answer gRPC calls until told to stop", Run: func(ctx context.Context) error {
			return serve(ctx, &cfg)
		}},
		daemon.Command{Name: "migrate", Short: "bring the database up to date", Run: func(ctx context.Context) error {
			if err := settings.Load(&cfg); err != nil {
				return err
			}
			return personallinks.Migrate(ctx, cfg)
		}},
	))
}

func serve(ctx context.Context, cfg *personallinks.Config) error {
	if err := settings.Load(cfg); err != nil {
		return err
	}
	tel, err := telemetry.New(ctx, "personal-links", cfg.Telemetry, os.Stderr)
	if err != nil {
		return fmt.Errorf("telemetry: %w", err)
	}
	service, err := personallinks.New(ctx, *cfg, tel)
	if err != nil {
		return err
	}
	return service.Run(ctx)
}
