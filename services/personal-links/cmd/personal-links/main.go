// Command personal-links runs the service for personal links.
package main

import (
	"os"

	personallinks "github.com/partnergifting/platform/services/personal-links"
)

func main() { os.Exit(personallinks.Program().Main(os.Args, os.Stderr)) }
