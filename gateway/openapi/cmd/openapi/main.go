// Command openapi writes the OpenAPI document of the public API to standard output, for linters and generators. Its argument
// is the public URL of the API.
package main

import (
	"fmt"
	"os"

	"github.com/partnergifting/platform/gateway/openapi"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	const arguments = 2
	if len(os.Args) != arguments {
		return fmt.Errorf("usage: %s <public URL>", os.Args[0])
	}
	document, err := openapi.Document(os.Args[1])
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(document)
	return err
}
