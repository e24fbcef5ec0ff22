// Command tenants runs the service for tenants, brands and API keys.
package main

import (
	"os"

	"github.com/partnergifting/platform/services/tenants"
)

func main() { os.Exit(tenants.Program().Main(os.Args, os.Stderr)) }
