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
		Compare:   events.Compare,
		Tasks: []daemon.Task[events.Config]{
			{Name: "redrive", Short: "append to the feed what Kafka has of a time span and the feed has not", RunWith: events.Redrive},
			{Name: "skip", Short: "move the stored offset of a partition forward, past messages that are gone", RunWith: events.Skip},
			{Name: "forget-topic", Short: "forget the stored offsets, before the feed reads another topic", Run: events.ForgetTopic},
		},
	}))
}
