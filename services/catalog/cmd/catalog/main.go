// Command catalog runs the catalog service.
package main

import (
	"os"

	"github.com/partnergifting/platform/services/catalog"
)

func main() { os.Exit(catalog.Program().Main(os.Args, os.Stderr)) }
