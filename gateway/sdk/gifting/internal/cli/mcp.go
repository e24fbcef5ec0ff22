package cli

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/partnergifting/platform/gateway/sdk/gifting/internal/assistant"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

func (a *app) mcpCommand() *cobra.Command {
	var production bool
	command := a.command("mcp", "Let an AI assistant use the API (Model Context Protocol)", func(
		ctx context.Context, client *gifting.Client, _ []string,
	) error {
		server := assistant.New(assistant.Config{
			Client: client, Version: version(), Production: production,
			Diagnose: func(ctx context.Context) any { return diagnose(ctx, client, "", nil, false) },
		})
		err := server.Run(ctx, assistant.Transport(a.In, a.Out))
		if errors.Is(err, io.EOF) {
			return nil // The assistant has left.
		}
		return err
	})
	command.Long = `mcp serves the Model Context Protocol on standard input and output, for assistants that start it as a program.
It reads the catalog, campaigns, orders and links, searches the documentation, validates orders, and finds out
what is wrong with a feed or a webhook.

It places orders, creates links and posts messages in the sandbox only. With --allow-production and a key of
production it does so there too, each time after a person has confirmed it in the assistant. An assistant that
cannot ask a person does nothing there. Nothing is cancelled, changed or sent again.`
	command.Flags().BoolVar(&production, "allow-production", false,
		"place orders, create links and post messages in production too, each after a person has confirmed it")
	return command
}
