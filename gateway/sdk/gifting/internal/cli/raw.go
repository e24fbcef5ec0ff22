package cli

import (
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

func (a *app) rawGetCommand() *cobra.Command {
	command := a.command("get PATH", "Read any path of the API and print its answer", func(
		ctx context.Context, client *gifting.Client, args []string,
	) error {
		return a.raw(ctx, client, http.MethodGet, args[0], nil)
	})
	command.Example = `  gifting get /me
  gifting get '/orders?status=SENT&limit=5'`
	return command
}

func (a *app) rawPostCommand() *cobra.Command {
	var once idempotent
	command := a.command("post PATH [BODY|@FILE|-]", "Send JSON to any path of the API and print its answer", func(
		ctx context.Context, client *gifting.Client, args []string,
	) error {
		if len(args) == 1 {
			return a.raw(ctx, client, http.MethodPost, args[0], nil, once.options()...)
		}
		body, err := a.jsonArgument(args[1])
		if err != nil {
			return err
		}
		return a.raw(ctx, client, http.MethodPost, args[0], body, once.options()...)
	})
	command.Long = `post sends JSON to a path below the base address: the argument itself, a file after @, or the standard input
for -. It retries like all commands, and nothing happens twice: all attempts have the same idempotency key.`
	command.Example = `  gifting post /orders:validate @order.json
  gifting post /orders/$ORDER:cancel '{"reason": "The player has moved."}'`
	return a.idempotencyFlag(command, &once)
}

// jsonArgument is the JSON in an argument: itself, in a file or on the standard input.
func (a *app) jsonArgument(text string) (json.RawMessage, error) {
	if path, named := strings.CutPrefix(text, "@"); named || text == "-" {
		return a.readJSON(path)
	}
	return parseJSON("BODY", []byte(text))
}

// raw prints the answer of any call. The slash before the path may be left out: some shells of Windows change a word that begins
// with one.
func (a *app) raw(
	ctx context.Context, client *gifting.Client, method, path string, body any, options ...gifting.CallOption,
) error {
	var response gifting.Response
	options = append(options, gifting.WithResponse(&response))
	if err := client.Call(ctx, method, "/"+strings.TrimPrefix(path, "/"), body, nil, options...); err != nil {
		return err
	}
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind != "application/json" {
		_, err := a.Out.Write(response.Body)
		return err
	}
	return terminal.JSON(a.Out, json.RawMessage(response.Body))
}
