package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

func (a *app) campaignsCommand() *cobra.Command {
	return group("campaigns", "Read campaigns", a.getCampaignCommand(), a.listCampaignsCommand())
}

func (a *app) getCampaignCommand() *cobra.Command {
	var query gifting.GetCampaignQuery
	command := a.command("get CAMPAIGN", "Show a campaign with its gifts and their stock", func(
		ctx context.Context, client *gifting.Client, args []string,
	) error {
		return a.show(client.Campaigns.Get(ctx, args[0], query))
	})
	command.Flags().StringVar(&query.Locale, "locale", "", "language of names, one of the tenant's")
	return command
}

func (a *app) listCampaignsCommand() *cobra.Command {
	var query gifting.ListCampaignsQuery
	var pages paging
	command := a.command("list", "List campaigns, newest first", func(ctx context.Context, client *gifting.Client, _ []string) error {
		query.Paging = pages.Paging
		return printPages(a, &pages, []column[gifting.CampaignSummary]{
			{"id", func(c gifting.CampaignSummary) string { return c.ID }},
			{"name", func(c gifting.CampaignSummary) string { return c.Name }},
			{"status", func(c gifting.CampaignSummary) string { return string(c.Status) }},
			{"brand", func(c gifting.CampaignSummary) string { return c.BrandID }},
			{"expires", func(c gifting.CampaignSummary) string { return expiry(c.ExpiresAt) }},
		}, client.Campaigns.List(ctx, query))
	})
	flags := command.Flags()
	flags.StringVar((*string)(&query.Status), "status", "", "only campaigns of this status: DRAFT, ACTIVE or COMPLETED")
	flags.StringVar(&query.BrandID, "brand-id", "", "only campaigns of this brand")
	must(command.RegisterFlagCompletionFunc("status", words("DRAFT", "ACTIVE", "COMPLETED")))
	return pages.flags(command)
}

func expiry(at *time.Time) string {
	if at == nil {
		return ""
	}
	return short(*at)
}
