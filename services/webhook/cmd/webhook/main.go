// Command webhook runs the service that sends changes to webhooks.
package main

import (
	"os"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/webhook"
)

func main() {
	os.Exit(daemon.RunProgram(os.Args, os.Stderr, daemon.Program[webhook.Config, *webhook.Service]{
		Name:      "webhook",
		Telemetry: func(cfg webhook.Config) telemetry.Config { return cfg.Telemetry },
		New:       webhook.New,
		Migrate:   webhook.Migrate,
		Pending:   webhook.Pending,
	}))
}
