// Command program says its version.
package main

import (
	"fmt"

	"github.com/partnergifting/platform/pkg/version"
)

func main() { fmt.Println(version.String()) }
