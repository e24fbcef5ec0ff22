// Command events runs the event relay and feed, or migrates the feed's database.
package main

import (
	"context"
	"os"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/settings"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/events"
)

func main() {
	var cfg events.Config
	os.Exit(daemon.Main(os.Args, os.Stderr, &cfg,
		daemon.Command{Name: "serve", Short: "relay changes and answer GET /events", Run: func(ctx context.Context) error {
			return serve(ctx, &cfg)
		}},
		daemon.Command{Name: "migrate", Short: "bring the database up to date", Run: func(ctx context.Context) error {
			if err := settings.Load(&cfg); err != nil {
				return err
			}
			return events.Migrate(ctx, cfg)
		}},
	))
}

func serve(ctx context.Context, cfg *events.Config) error {
	if err := settings.Load(cfg); err != nil {
		return err
	}
	tel, err := telemetry.New(ctx, "events", cfg.Telemetry, os.Stderr)
	if err != nil {
		return err
	}
	service, err := events.New(ctx, *cfg, tel)
	if err != nil {
		return err
	}
	return service.Run(ctx)
}
