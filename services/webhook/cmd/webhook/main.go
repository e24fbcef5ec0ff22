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
		Compare:   webhook.Compare,
		Tasks: []daemon.Task[webhook.Config]{
			{Name: "redrive", Short: "make the deliveries that events of a time span lack", RunWith: webhook.Redrive},
			{Name: "skip", Short: "move the stored offset of a partition forward, past messages that are gone", RunWith: webhook.Skip},
			{Name: "forget-topic", Short: "forget the stored offsets, before the fan-out reads another topic", Run: webhook.ForgetTopic},
		},
	}))
}
