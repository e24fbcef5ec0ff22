// Command conformance writes the document of promises and tests to the standard output. It is run at the root of the
// repository, and fails when the list and the tests do not fit.
package main

import (
	"fmt"
	"os"

	"github.com/partnergifting/platform/deploy/e2e/conformance"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	sections, err := conformance.List()
	if err != nil {
		return err
	}
	shown, err := conformance.Check(".", sections)
	if err != nil {
		return err
	}
	return conformance.Document(os.Stdout, sections, shown)
}
