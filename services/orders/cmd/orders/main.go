// Command orders runs the orders service.
package main

import (
	"context"
	"io"
	"os"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/orders"
)

func main() {
	os.Exit(daemon.RunProgram(os.Args, os.Stderr, daemon.Program[orders.Config, *orders.Service]{
		Name:      "orders",
		Telemetry: func(cfg orders.Config) telemetry.Config { return cfg.Telemetry },
		New:       orders.New,
		Migrate:   orders.Migrate,
		Compare:   orders.Compare,
		Tasks: []daemon.Task[orders.Config]{
			{Name: "re-encrypt", Short: "re-encrypt all delivery details and messages under the first of the seal keys", Run: orders.Reencrypt},
			{Name: "reconcile", Short: orders.ReconcileShort, RunWith: reconcile},
		},
	}))
}

func reconcile(ctx context.Context, cfg orders.Config, args []string, out io.Writer) error {
	return orders.Reconcile(ctx, cfg, args, out, os.Stderr)
}
