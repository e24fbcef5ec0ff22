// Command docs writes a file of the documentation to standard output, for linters and other tools. Its arguments are the public URL
// of the API, the environment (production or sandbox) and the path of the file, such as /docs/asyncapi.yaml.
package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/partnergifting/platform/gateway/docs"
	"github.com/partnergifting/platform/gateway/openapi"
	"github.com/partnergifting/platform/pkg/apikey"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
	const argumentCount = 3
	if len(arguments) != argumentCount {
		return errors.New("usage: docs <public URL> <environment> <path>")
	}
	environment := apikey.Environment(arguments[1])
	if err := environment.Validate(); err != nil {
		return err
	}
	document, err := openapi.New(arguments[0], environment, nil)
	if err != nil {
		return err
	}
	site, err := docs.New(document, "", docs.Operator{}, slog.Default())
	if err != nil {
		return err
	}
	w := httptest.NewRecorder()
	site.ServeHTTP(w, httptest.NewRequest(http.MethodGet, arguments[2], nil)) //nolint:noctx // There is nothing to cancel.
	if w.Code != http.StatusOK {
		return fmt.Errorf("there is no %s", arguments[2])
	}
	_, err = os.Stdout.Write(w.Body.Bytes())
	return err
}
