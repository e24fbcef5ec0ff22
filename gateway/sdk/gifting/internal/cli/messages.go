package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

func (a *app) messagesCommand() *cobra.Command {
	list := a.command("list ORDER", "List the messages on an order, oldest first", func(
		ctx context.Context, client *gifting.Client, args []string,
	) error {
		messages, err := client.Orders.Messages(ctx, args[0])
		switch {
		case err != nil:
			return err
		case a.output == terminal.AsJSON:
			return terminal.JSON(a.Out, messages)
		}
		return printTable(a, []column[gifting.OrderMessage]{
			{"created", func(m gifting.OrderMessage) string { return timeText(m.CreatedAt) }},
			{"author", func(m gifting.OrderMessage) string { return string(m.Author.Kind) }},
			{"name", func(m gifting.OrderMessage) string { return m.Author.Name }},
			{"body", func(m gifting.OrderMessage) string { return m.Body }},
		}, messages)
	})

	var message gifting.PostOrderMessageRequest
	var once idempotent
	post := a.command("post ORDER", "Post a message on an order, which the service operator reads", func(
		ctx context.Context, client *gifting.Client, args []string,
	) error {
		return a.show(client.Orders.PostMessage(ctx, args[0], message, once.options()...))
	})
	post.Flags().StringVar(&message.Body, "body", "", "the text, at most 4000 characters (required)")
	terminal.Must(post.MarkFlagRequired("body"))
	return group("messages", "Read and post messages on an order", list, a.idempotencyFlag(post, &once))
}
