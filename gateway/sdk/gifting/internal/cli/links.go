package cli

import (
	"context"
	"errors"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

var errRejected = errors.New("recipients were rejected; their errors are in the result")

func (a *app) linksCommand() *cobra.Command {
	return group("links", "Create, read and cancel personal links",
		a.createLinksCommand(), a.getLinkCommand(), a.listLinksCommand(), a.cancelLinkCommand())
}

func (a *app) createLinksCommand() *cobra.Command {
	var path, campaign, brand, label, player, message, locale string
	var products []string
	var once idempotent
	command := a.command("create", "Create a personal link, or many from a file", func(
		ctx context.Context, client *gifting.Client, _ []string,
	) error {
		var body any = gifting.CreatePersonalLinksRequest{
			CampaignID: optional(campaign), BrandID: optional(brand), ProductIDs: products,
			Recipients: []gifting.PersonalLinkRecipient{{
				Label: label, ExternalRecipientID: optional(player), Message: optional(message), Locale: optional(locale),
			}},
		}
		if path != "" {
			read, err := a.readJSON(path)
			if err != nil {
				return err
			}
			body = read
		}
		return a.createLinks(ctx, client, body, once)
	})
	command.Long = `create creates a link for one recipient, from its flags, or one for each recipient of a batch in a file. It
fails if a recipient was rejected; the links of the others exist all the same.`
	flags := command.Flags()
	flags.StringVarP(&path, "file", "f", "", "the batch as JSON; - is the standard input")
	flags.StringVar(&campaign, "campaign-id", "", "the campaign to choose a gift from")
	flags.StringVar(&brand, "brand-id", "", "the brand, with --product-id")
	flags.StringSliceVar(&products, "product-id", nil, "a gift to choose from; may be repeated")
	flags.StringVar(&label, "label", "", "the name of the player that the page shows")
	flags.StringVar(&player, "external-recipient-id", "", "your id of the player")
	flags.StringVar(&message, "message", "", "a note for the player")
	flags.StringVar(&locale, "locale", "", "the language of the page, such as sv-SE")
	for _, name := range []string{"campaign-id", "brand-id", "product-id", "label", "external-recipient-id", "message", "locale"} {
		command.MarkFlagsMutuallyExclusive("file", name)
	}
	return a.idempotencyFlag(command, &once)
}

func (a *app) createLinks(ctx context.Context, client *gifting.Client, body any, once idempotent) error {
	var results gifting.PersonalLinkResults
	if err := client.Call(ctx, http.MethodPost, "/personal-links:create-batch", body, &results, once.options()...); err != nil {
		return err
	}
	if err := a.print(results); err != nil {
		return err
	}
	for _, result := range results.Results {
		if result.Outcome == gifting.PersonalLinkResultOutcomeREJECTED {
			return errRejected
		}
	}
	return nil
}

func (a *app) getLinkCommand() *cobra.Command {
	return a.command("get LINK", "Show a personal link", func(ctx context.Context, client *gifting.Client, args []string) error {
		return a.show(client.PersonalLinks.Get(ctx, args[0]))
	})
}

func (a *app) listLinksCommand() *cobra.Command {
	var query gifting.ListPersonalLinksQuery
	var pages paging
	command := a.command("list", "List personal links, newest first", func(
		ctx context.Context, client *gifting.Client, _ []string,
	) error {
		query.UpdatedSince = pages.since.Time
		query.Paging = pages.Paging
		return printPages(a, &pages, []column[gifting.PersonalLink]{
			{"id", func(l gifting.PersonalLink) string { return l.ID }},
			{"status", func(l gifting.PersonalLink) string { return string(l.Status) }},
			{"external recipient id", func(l gifting.PersonalLink) string { return text(l.ExternalRecipientID) }},
			{"order", func(l gifting.PersonalLink) string { return text(l.OrderID) }},
			{"updated", func(l gifting.PersonalLink) string { return timeText(l.UpdatedAt) }},
			{"claim url", func(l gifting.PersonalLink) string { return l.ClaimURL }},
		}, client.PersonalLinks.List(ctx, query))
	})
	flags := command.Flags()
	flags.StringVar((*string)(&query.Status), "status", "", "only links of this status, such as ACTIVE")
	flags.StringVar(&query.ExternalRecipientID, "external-recipient-id", "", "only links of your player")
	flags.StringVar(&query.CampaignID, "campaign-id", "", "only links of this campaign")
	terminal.Must(command.RegisterFlagCompletionFunc("status", completions("REQUESTED", "ACTIVE", "CLAIMED", "EXPIRED", "CANCELLED")))
	return pages.sinceFlags(command, "updated-since",
		"only links that changed since a time, or an age such as 2h; the oldest change first")
}

func (a *app) cancelLinkCommand() *cobra.Command {
	var reason string
	var once idempotent
	command := a.command("cancel LINK", "Withdraw a personal link", func(
		ctx context.Context, client *gifting.Client, args []string,
	) error {
		if reason == "" {
			return terminal.AsUsageError(errReason)
		}
		return a.show(client.PersonalLinks.Cancel(ctx, args[0], gifting.CancelPersonalLinkRequest{Reason: reason}, once.options()...))
	})
	command.Flags().StringVar(&reason, "reason", "", "why; only the tenant's team sees it (required)")
	return a.idempotencyFlag(command, &once)
}
