// Command certificates makes an authority and a certificate of every program in a folder, and renews those near expiry. It is
// for a stack of containers on one machine.
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/partnergifting/platform/deploy/local"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: certificates FOLDER")
		os.Exit(2)
	}
	if err := local.MakeCertificates(os.Args[1], time.Now()); err != nil {
		fmt.Fprintln(os.Stderr, "certificates:", err)
		os.Exit(1)
	}
}
