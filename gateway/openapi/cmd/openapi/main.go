// Command openapi writes the OpenAPI document of the public API to standard output, for linters and generators. Its arguments
// are the public URL of the API and the environment, production or sandbox.
package main

import (
	"fmt"
	"os"

	"github.com/partnergifting/platform/gateway/openapi"
	"github.com/partnergifting/platform/pkg/apikey"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	const arguments = 3
	if len(os.Args) != arguments {
		return fmt.Errorf("usage: %s <public URL> <environment>", os.Args[0])
	}
	environment := apikey.Environment(os.Args[2])
	if err := environment.Validate(); err != nil {
		return err
	}
	document, err := openapi.New(os.Args[1], environment, nil)
	if err != nil {
		return err
	}
	written, err := document.YAML()
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(written)
	return err
}
