// Command personal-links runs the service for personal links.
package main

import (
	"os"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/telemetry"
	personallinks "github.com/partnergifting/platform/services/personal-links"
)

func main() {
	os.Exit(daemon.RunProgram(os.Args, os.Stderr, daemon.Program[personallinks.Config, *personallinks.Service]{
		Name:      "personal-links",
		Telemetry: func(cfg personallinks.Config) telemetry.Config { return cfg.Telemetry },
		New:       personallinks.New,
		Migrate:   personallinks.Migrate,
		Compare:   personallinks.Compare,
		Tasks: []daemon.Task[personallinks.Config]{
			{Name: "re-encrypt", Short: "re-encrypt all links and stored responses under the first of the seal keys", Run: personallinks.Reencrypt},
		},
	}))
}
