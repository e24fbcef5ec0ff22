// Command events runs the events service: the relay and the feed.
package main

import (
	"os"

	"github.com/partnergifting/platform/services/events"
)

func main() { os.Exit(events.Program().Main(os.Args, os.Stderr)) }
