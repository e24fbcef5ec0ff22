// Command tenants runs the service for tenants, brands and API keys.
package main

import (
	"os"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/tenants"
)

func main() {
	os.Exit(daemon.RunProgram(os.Args, os.Stderr, daemon.Program[tenants.Config, *tenants.Service]{
		Name:      "tenants",
		Telemetry: func(cfg tenants.Config) telemetry.Config { return cfg.Telemetry },
		New:       tenants.New,
		Migrate:   tenants.Migrate,
		Compare:   tenants.Compare,
		Tasks: []daemon.Task[tenants.Config]{
			{Name: "re-encrypt", Short: "re-encrypt all signing secrets under the first of the seal keys", Run: tenants.Reencrypt},
		},
	}))
}
