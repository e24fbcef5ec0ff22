// Command webhook runs the service that sends changes to webhooks.
package main

import (
	"os"

	"github.com/partnergifting/platform/services/webhook"
)

func main() { os.Exit(webhook.Program().Main(os.Args, os.Stderr)) }
