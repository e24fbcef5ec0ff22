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
	os.Exit(daemon.RunProgram(os.Args, os.Stderr, daemon.Program[orders.Config, *orders.Service]{
		Name:      "orders",
		Telemetry: func(cfg orders.Config) telemetry.Config { return cfg.Telemetry },
		New:       orders.New,
		Migrate:   orders.Migrate,
		Pending:   orders.Pending,
		Tasks: []daemon.Task[orders.Config]{
			{Name: "re-encrypt", Short: "re-encrypt all delivery details under the first of the seal keys", Run: orders.Reencrypt},
		},
		Commands: []daemon.Command{{Name: "reconcile", Short: orders.ReconcileShort, Run: reconcile, Arguments: true}},
	}))
}

func reconcile(ctx context.Context) error {
	var cfg orders.Config
	if err := settings.Load(&cfg); err != nil {
		return err
	}
	return orders.Reconcile(ctx, cfg, os.Args[2:], os.Stdout, os.Stderr)
}
