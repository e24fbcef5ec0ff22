// Command events runs the events service: the relay and the feed.
package main

import (
	"os"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/services/events"
)

func main() {
	os.Exit(daemon.RunProgram(os.Args, os.Stderr, daemon.Program[events.Config, *events.Service]{
		Name:      "events",
		Telemetry: func(cfg events.Config) telemetry.Config { return cfg.Telemetry },
		New:       events.New,
		Migrate:   events.Migrate,
		Pending:   events.Pending,
	}))
}
