// Command program says its version.
package main

import (
	"fmt"

	"github.com/partnergifting/platform/pkg/telemetry"
)

func main() { fmt.Println(telemetry.Version()) }
