// Command catalog runs the catalog service.
package main

import (
	"os"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/catalog"
)

func main() {
	os.Exit(daemon.RunProgram(os.Args, os.Stderr, daemon.Program[catalog.Config, *catalog.Service]{
		Name:      "catalog",
		Telemetry: func(cfg catalog.Config) telemetry.Config { return cfg.Telemetry },
		New:       catalog.New,
		Migrate:   catalog.Migrate,
		Compare:   catalog.Compare,
	}))
}
