// Command catalog runs the catalog service, and imports gifts from files.
package main

import (
	"context"
	"os"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/catalog"
	"github.com/partnergifting/platform/services/catalog/internal/importer"
)

func main() {
	os.Exit(daemon.RunProgram(os.Args, os.Stderr, daemon.Program[catalog.Config, *catalog.Service]{
		Name:      "catalog",
		Telemetry: func(cfg catalog.Config) telemetry.Config { return cfg.Telemetry },
		New:       catalog.New,
		Migrate:   catalog.Migrate,
		Pending:   catalog.Pending,
		Commands:  []daemon.Command{{Name: "import", Short: importer.Short, Run: importGifts, Arguments: true}},
	}))
}

func importGifts(ctx context.Context) error {
	return importer.Command(ctx, os.Args[2:], importer.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}
