// Command webhook sends the platform's changes to the webhooks of API keys.
package main

import (
	"context"
	"os"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/webhook"
)

func main() {
	cfg := &webhook.Config{}
	os.Exit(daemon.Main(os.Args, os.Stderr, cfg,
		daemon.Command{Name: "serve", Short: "deliver changes and answer tests", Run: func(ctx context.Context) error {
			return serve(ctx, cfg)
		}},
		daemon.Command{Name: "migrate", Short: "bring the database up to date", Run: func(ctx context.Context) error {
			return migrate(ctx, cfg)
		}},
	))
}

func serve(ctx context.Context, cfg *webhook.Config) error {
	if err := settings.Load(cfg); err != nil {
		return err
	}
	tel, err := telemetry.New(ctx, "webhook", cfg.Telemetry, os.Stderr)
	if err != nil {
		return err
	}
	service, err := webhook.New(ctx, *cfg, tel)
	if err != nil {
		return err
	}
	return service.Run(ctx)
}

func migrate(ctx context.Context, cfg *webhook.Config) error {
	if err := settings.Load(cfg); err != nil {
		return err
	}
	return webhook.Migrate(ctx, *cfg)
}
