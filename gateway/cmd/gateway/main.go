// Command gateway runs the edge of the platform.
package main

import (
	"os"

	"github.com/partnergifting/platform/gateway"
)

func main() { os.Exit(gateway.Program().Main(os.Args, os.Stderr)) }
