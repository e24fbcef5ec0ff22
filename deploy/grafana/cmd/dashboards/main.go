// Command dashboards writes the dashboards into the folder its argument names.
package main

import (
	"fmt"
	"os"

	"github.com/partnergifting/platform/deploy/grafana"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: dashboards FOLDER")
		os.Exit(2)
	}
	if err := grafana.Write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "dashboards:", err)
		os.Exit(1)
	}
}
