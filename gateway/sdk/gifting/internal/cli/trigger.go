package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

var (
	errEvent      = errors.New("cannot be triggered; these events can")
	errProduction = errors.New("this is a key of production: events are caused only in the sandbox")
	errNoApproval = errors.New("orders and links of this tenant need no approval, so there is nothing to approve")
	errNoGift     = errors.New("no gift of the catalog can be sent to Sweden, where the example's recipient lives")
	errLink       = errors.New("the link was rejected")
)

// triggered is what a trigger did.
type triggered struct {
	Event  string `json:"event"`
	Order  string `json:"orderId,omitempty"`
	Link   string `json:"linkId,omitempty"`
	Status string `json:"status,omitempty"`
	Answer string `json:"answer,omitempty"`
}

// trigger causes events of one key.
type trigger struct {
	*gifting.Client
}

// triggers are the events that can be triggered, in the order of a help text.
var triggers = []struct {
	event string
	cause func(trigger, context.Context, *triggered) error
}{
	{"order.created", orderUntil("")},
	{"order.approved", trigger.approved},
	{"order.sent", orderUntil(gifting.OrderStatusSENT)},
	{"order.completed", orderUntil(gifting.OrderStatusCOMPLETED)},
	{"order.cancelled", orderUntil(gifting.OrderStatusCANCELLED)},
	{"order.status_changed", orderUntil(gifting.OrderStatusSENT)},
	{"order.updated", trigger.updated},
	{"order.message_posted", trigger.message},
	{"personal_link.created", trigger.link},
	{"personal_link.approved", trigger.linkApproved},
	{"personal_link.claimed", trigger.claimed},
	{"personal_link.cancelled", trigger.linkCancelled},
	{"ping", trigger.ping},
}

func (a *app) triggerCommand() *cobra.Command {
	var names []string
	for _, t := range triggers {
		names = append(names, t.event)
	}
	command := a.command("trigger EVENT", "Cause a real event in the sandbox", func(
		ctx context.Context, client *gifting.Client, args []string,
	) error {
		at := slices.Index(names, args[0])
		if at < 0 {
			return terminal.AsUsageError(fmt.Errorf("%s %w: %s", args[0], errEvent, strings.Join(names, ", ")))
		}
		me, err := client.Account.Me(ctx)
		if err != nil {
			return err
		}
		if me.Environment == gifting.EnvironmentProduction {
			return terminal.AsUsageError(errProduction)
		}
		done := &triggered{Event: args[0]}
		if err := triggers[at].cause(trigger{client}, ctx, done); err != nil {
			return err
		}
		return a.print(done)
	})
	command.Long = `trigger places an order or creates a link in the sandbox, and takes it to where the event happens, as people
do it in production. The event, and those before it, come by webhook and in the feed, as any other. Changes
that your own key may make in production too, such as order.created, are not sent to it by webhook: read the
feed, or use another key.

Events: ` + strings.Join(names, ", ")
	command.ValidArgsFunction = completions(names...)
	return command
}

// orderUntil causes the events of an order up to a status.
func orderUntil(status gifting.OrderStatus) func(trigger, context.Context, *triggered) error {
	return func(t trigger, ctx context.Context, done *triggered) error { return t.order(ctx, done, status) }
}

func (done *triggered) ofOrder(order *gifting.Order, err error) error {
	if err == nil {
		done.Order, done.Status = order.ID, string(order.Status)
	}
	return err
}

func (done *triggered) ofLink(link *gifting.PersonalLink, err error) error {
	if err == nil {
		done.Order, done.Link, done.Status = text(link.OrderID), link.ID, string(link.Status)
	}
	return err
}

// order places an order and takes it to a status.
func (t trigger) order(ctx context.Context, done *triggered, until gifting.OrderStatus) error {
	request, err := example(ctx, t.Client)
	if err != nil {
		return err
	}
	order, err := t.Orders.Place(ctx, request)
	for err == nil && until != "" && order.Status != until {
		switch {
		case until == gifting.OrderStatusCANCELLED:
			order, err = t.Orders.Cancel(ctx, order.ID, gifting.CancelOrderRequest{Reason: "An example."})
		case order.Status == gifting.OrderStatusREQUESTED:
			order, err = t.Sandbox.ApproveOrder(ctx, order.ID)
		case order.Status == gifting.OrderStatusPROCESSING:
			order, err = t.Sandbox.DispatchOrder(ctx, order.ID, gifting.DispatchSandboxOrderRequest{})
		default:
			order, err = t.Sandbox.DeliverOrder(ctx, order.ID)
		}
	}
	return done.ofOrder(order, err)
}

func (t trigger) approved(ctx context.Context, done *triggered) error {
	if err := t.order(ctx, done, ""); err != nil {
		return err
	}
	if done.Status != string(gifting.OrderStatusREQUESTED) {
		return errNoApproval
	}
	return done.ofOrder(t.Sandbox.ApproveOrder(ctx, done.Order))
}

func (t trigger) updated(ctx context.Context, done *triggered) error {
	if err := t.order(ctx, done, gifting.OrderStatusSENT); err != nil {
		return err
	}
	_, err := t.Sandbox.CorrectTracking(ctx, done.Order, gifting.CorrectSandboxTrackingRequest{})
	return err
}

func (t trigger) message(ctx context.Context, done *triggered) error {
	if err := t.order(ctx, done, ""); err != nil {
		return err
	}
	_, err := t.Sandbox.PostMessage(ctx, done.Order, gifting.PostSandboxMessageRequest{Body: "An example."})
	return err
}

// link creates a link of the key's first brand, to choose the first gift that can be sent.
func (t trigger) link(ctx context.Context, done *triggered) error {
	brands, err := t.Brands.List(ctx)
	if err != nil {
		return err
	}
	if len(brands) == 0 {
		return errNoBrand
	}
	gifts, err := t.Catalog.Products(ctx, gifting.ListProductsQuery{Country: "SE", Paging: gifting.Paging{Limit: 100}}).First()
	if err != nil {
		return err
	}
	at := slices.IndexFunc(gifts.Items, func(e gifting.ProductEntry) bool { return e.Product != nil && e.Product.Available })
	if at < 0 {
		return errNoGift
	}
	me, err := t.Account.Me(ctx)
	if err != nil {
		return err
	}
	recipient := gifting.PersonalLinkRecipient{Label: "Ann Berg"}
	for _, answer := range answers(me.Tenant.CustomFields) {
		recipient.CustomFields = append(recipient.CustomFields, gifting.PersonalLinkAnswer(answer))
	}
	results, err := t.PersonalLinks.Create(ctx, gifting.CreatePersonalLinksRequest{
		BrandID: &brands[0].ID, ProductIDs: []string{gifts.Items[at].Product.ID}, Recipients: []gifting.PersonalLinkRecipient{recipient},
	})
	if err != nil {
		return err
	}
	if len(results.Results) == 0 {
		return errLink
	}
	link := results.Results[0].Link
	if link == nil {
		return fmt.Errorf("%w: %v", errLink, results.Results[0].Errors)
	}
	return done.ofLink(link, nil)
}

func (t trigger) linkApproved(ctx context.Context, done *triggered) error {
	if err := t.link(ctx, done); err != nil {
		return err
	}
	if done.Status != string(gifting.PersonalLinkStatusREQUESTED) {
		return errNoApproval
	}
	return done.ofLink(t.Sandbox.ApproveLink(ctx, done.Link))
}

func (t trigger) claimed(ctx context.Context, done *triggered) error {
	if err := t.link(ctx, done); err != nil {
		return err
	}
	if done.Status == string(gifting.PersonalLinkStatusREQUESTED) {
		if _, err := t.Sandbox.ApproveLink(ctx, done.Link); err != nil {
			return err
		}
	}
	return done.ofLink(t.Sandbox.ClaimLink(ctx, done.Link, gifting.ClaimSandboxPersonalLinkRequest{}))
}

func (t trigger) linkCancelled(ctx context.Context, done *triggered) error {
	if err := t.link(ctx, done); err != nil {
		return err
	}
	return done.ofLink(t.PersonalLinks.Cancel(ctx, done.Link, gifting.CancelPersonalLinkRequest{Reason: "An example."}))
}

func (t trigger) ping(ctx context.Context, done *triggered) error {
	result, err := t.Webhooks.Test(ctx)
	if err != nil {
		return err
	}
	done.Answer = text(result.Error)
	if result.ResponseStatus != nil && done.Answer == "" {
		done.Answer = fmt.Sprintf("HTTP %d", *result.ResponseStatus)
	}
	return nil
}
