// Command gateway runs the edge of the platform.
package main

import (
	"os"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/telemetry"
)

func main() {
	os.Exit(daemon.RunProgram(os.Args, os.Stderr, daemon.Program[gateway.Config, *gateway.Gateway]{
		Name:      "gateway",
		Telemetry: func(cfg gateway.Config) telemetry.Config { return cfg.Telemetry },
		New:       gateway.New,
	}))
}
