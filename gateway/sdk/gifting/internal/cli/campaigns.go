package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

func (a *app) campaignsCommand() *cobra.Command {
	var read gifting.GetCampaignQuery
	get := a.command("get CAMPAIGN", "Show a campaign with its gifts and their stock", func(
		ctx context.Context, client *gifting.Client, args []string,
	) error {
		return a.show(client.Campaigns.Get(ctx, args[0], read))
	})
	get.Flags().StringVar(&read.Locale, "locale", "", "language of names, one of the tenant's")

	var query gifting.ListCampaignsQuery
	var pages paging
	list := a.command("list", "List campaigns, newest first", func(ctx context.Context, client *gifting.Client, _ []string) error {
		query.Paging = pages.Paging
		return printPages(a, &pages, []column[gifting.CampaignSummary]{
			{"id", func(c gifting.CampaignSummary) string { return c.ID }},
			{"name", func(c gifting.CampaignSummary) string { return c.Name }},
			{"status", func(c gifting.CampaignSummary) string { return string(c.Status) }},
			{"brand", func(c gifting.CampaignSummary) string { return c.BrandID }},
			{"expires", func(c gifting.CampaignSummary) string {
				if c.ExpiresAt == nil {
					return ""
				}
				return timeText(*c.ExpiresAt)
			}},
		}, client.Campaigns.List(ctx, query))
	})
	list.Flags().StringVar((*string)(&query.Status), "status", "", "only campaigns of this status: DRAFT, ACTIVE or COMPLETED")
	list.Flags().StringVar(&query.BrandID, "brand-id", "", "only campaigns of this brand")
	terminal.Must(list.RegisterFlagCompletionFunc("status", completions("DRAFT", "ACTIVE", "COMPLETED")))
	return group("campaigns", "Read campaigns", get, pages.flags(list))
}
