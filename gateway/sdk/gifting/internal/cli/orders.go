package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

var (
	errNoBrand = errors.New("the key reaches no brand: an Administrator of the tenant changes that")
	errReason  = errors.New("say why: --reason")
)

func (a *app) ordersCommand() *cobra.Command {
	return group("orders", "Place, read, correct and cancel orders, and exchange messages on them",
		a.placeCommand(), a.validateCommand(), a.exampleCommand(), a.getOrderCommand(), a.listOrdersCommand(), a.updateDeliveryCommand(),
		a.cancelOrderCommand(), a.messagesCommand())
}

// fileFlag adds --file, the request, to a command.
func fileFlag(c *cobra.Command, path *string) *cobra.Command {
	c.Flags().StringVarP(path, "file", "f", "-", "the request as JSON; - is the standard input")
	return c
}

func (a *app) placeCommand() *cobra.Command {
	var path string
	var once idempotent
	command := a.command("place", "Place an order", func(ctx context.Context, client *gifting.Client, _ []string) error {
		body, err := a.readJSON(path)
		if err != nil {
			return err
		}
		var order gifting.Order
		if err := client.Call(ctx, http.MethodPost, "/orders", body, &order, once.options()...); err != nil {
			return err
		}
		return a.print(order)
	})
	command.Long = `place places the order that a file describes: gifting orders example > order.json`
	return a.idempotencyFlag(fileFlag(command, &path), &once)
}

func (a *app) validateCommand() *cobra.Command {
	var path string
	return fileFlag(a.command("validate", "Check an order without placing it: all its problems at once",
		func(ctx context.Context, client *gifting.Client, _ []string) error {
			body, err := a.readJSON(path)
			if err != nil {
				return err
			}
			var result gifting.OrderValidation
			if err := client.Call(ctx, http.MethodPost, "/orders:validate", body, &result); err != nil {
				return err
			}
			if err := a.print(result); err != nil {
				return err
			}
			if !result.Valid {
				return errCheckFailed
			}
			return nil
		}), &path)
}

func (a *app) exampleCommand() *cobra.Command {
	return &cobra.Command{
		Use: "example", Short: "Print an order as JSON that can be placed: for the key's first brand, with a made-up recipient",
		Args: arguments,
		RunE: func(c *cobra.Command, _ []string) error {
			client, err := a.client()
			if err != nil {
				return err
			}
			order, err := example(c.Context(), client)
			if err != nil {
				return err
			}
			return terminal.JSON(a.Out, order) // A file to edit, so it is JSON with any -o.
		},
	}
}

// example is an order that the key can place.
func example(ctx context.Context, client *gifting.Client) (gifting.PlaceOrderRequest, error) {
	brands, err := client.Brands.List(ctx)
	if err != nil {
		return gifting.PlaceOrderRequest{}, err
	}
	if len(brands) == 0 {
		return gifting.PlaceOrderRequest{}, errNoBrand
	}
	me, err := client.Account.Me(ctx)
	if err != nil {
		return gifting.PlaceOrderRequest{}, err
	}
	return gifting.PlaceOrderRequest{
		ExternalOrderID: "gifting-" + rand.Text(), BrandID: &brands[0].ID,
		Items: []gifting.OrderItemInput{{
			CustomProductName: new("A football signed by the whole team"),
			Budget:            &gifting.Budget{Amount: "1500.00", Currency: me.Tenant.Currency},
		}},
		Client:       gifting.OrderClient{Name: "Ann Berg"},
		CustomFields: answers(me.Tenant.CustomFields),
		Recipient: gifting.OrderRecipient{
			Name: "Ann Berg", Phone: "+46 70 123 45 67",
			Address: gifting.OrderAddress{Street: "Storgatan 1", City: "Stockholm", PostalCode: new("111 22"), Country: "SE"},
		},
	}, nil
}

// answers answers the fields that the tenant requires.
func answers(fields []gifting.CustomField) (all []gifting.CustomFieldAnswer) {
	for _, field := range fields {
		answer := gifting.CustomFieldAnswer{FieldID: field.ID}
		switch {
		case !field.Required:
			continue
		case field.Type == gifting.CustomFieldTypeCHECKBOX:
			answer.Checked = new(true)
		case field.Type == gifting.CustomFieldTypeDROPDOWN && len(field.Options) > 0:
			answer.TextValue = &field.Options[0]
		default:
			answer.TextValue = new("An example")
		}
		all = append(all, answer)
	}
	return all
}

func (a *app) getOrderCommand() *cobra.Command {
	return a.command("get ORDER", "Show an order", func(ctx context.Context, client *gifting.Client, args []string) error {
		return a.show(client.Orders.Get(ctx, args[0]))
	})
}

func (a *app) listOrdersCommand() *cobra.Command {
	var query gifting.ListOrdersQuery
	var pages paging
	command := a.command("list", "List orders, newest first", func(ctx context.Context, client *gifting.Client, _ []string) error {
		query.UpdatedSince = pages.since.Time
		query.Paging = pages.Paging
		return printPages(a, &pages, []column[gifting.Order]{
			{"id", func(o gifting.Order) string { return o.ID }},
			{"reference", func(o gifting.Order) string { return o.Reference }},
			{"status", func(o gifting.Order) string { return string(o.Status) }},
			{"external order id", func(o gifting.Order) string { return text(o.ExternalOrderID) }},
			{"country", func(o gifting.Order) string { return o.DeliveryCountry }},
			{"updated", func(o gifting.Order) string { return timeText(o.UpdatedAt) }},
		}, client.Orders.List(ctx, query))
	})
	flags := command.Flags()
	flags.StringVar((*string)(&query.Status), "status", "", "only orders of this status, such as PROCESSING")
	flags.StringVar(&query.ExternalOrderID, "external-order-id", "", "only the order with your id")
	flags.StringVar(&query.ExternalRecipientID, "external-recipient-id", "", "only orders for your player")
	flags.StringVar(&query.BrandID, "brand-id", "", "only orders of this brand")
	terminal.Must(command.RegisterFlagCompletionFunc("status",
		completions("REQUESTED", "PROCESSING", "SENT", "COMPLETED", "CANCELLED")))
	return pages.sinceFlags(command, "updated-since", "only orders that changed since a time, or an age such as 2h")
}

func (a *app) cancelOrderCommand() *cobra.Command {
	var reason string
	var once idempotent
	command := a.command("cancel ORDER", "Cancel an order", func(ctx context.Context, client *gifting.Client, args []string) error {
		if reason == "" {
			return terminal.AsUsageError(errReason)
		}
		return a.show(client.Orders.Cancel(ctx, args[0], gifting.CancelOrderRequest{Reason: reason}, once.options()...))
	})
	command.Flags().StringVar(&reason, "reason", "", "why, at most 1000 characters (required)")
	return a.idempotencyFlag(command, &once)
}
