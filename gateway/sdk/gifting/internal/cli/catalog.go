package cli

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/partnergifting/platform/gateway/sdk/gifting/internal/catalogcopy"
	"github.com/partnergifting/platform/gateway/sdk/gifting/terminal"
	gifting "github.com/partnergifting/platform/gateway/sdk/go"
)

var (
	errForm    = errors.New("--to is sqlite or ndjson")
	errOut     = errors.New("name the file: --out")
	errCountry = errors.New("name the country of delivery: --country SE")
)

func (a *app) catalogCommand() *cobra.Command {
	var query gifting.ListProductsQuery
	var pages paging
	list := a.command("list", "List the gifts that can be sent to a country", func(
		ctx context.Context, client *gifting.Client, _ []string,
	) error {
		if query.Country == "" {
			return terminal.AsUsageError(errCountry)
		}
		query.Paging = pages.Paging
		return printPages(a, &pages, []column[gifting.ProductEntry]{
			{"id", gifting.ProductEntry.ID},
			{"name", listedOnly(func(p *gifting.Product) string { return p.Name })},
			{"available", listedOnly(func(p *gifting.Product) string { return strconv.FormatBool(p.Available) })},
			{"estimate", listedOnly(func(p *gifting.Product) string { return money(p.Estimate) })},
			{"variations", listedOnly(func(p *gifting.Product) string { return variations(p.Variations) })},
		}, client.Catalog.Products(ctx, query))
	})
	list.Flags().StringVar(&query.Country, "country", "", "country of delivery, such as SE (required)")
	list.Flags().StringVar(&query.Locale, "locale", "", "language of names, one of the tenant's")
	return group("catalog", "Read the gift catalog", pages.flags(list))
}

// listedOnly is empty for a gift that has left the catalog.
func listedOnly(text func(*gifting.Product) string) func(gifting.ProductEntry) string {
	return func(e gifting.ProductEntry) string {
		if e.Product == nil {
			return ""
		}
		return text(e.Product)
	}
}

func money(m *gifting.Money) string {
	if m == nil {
		return ""
	}
	return m.Amount + " " + m.Currency
}

func variations(all []gifting.Variation) string {
	texts := make([]string, len(all))
	for i, v := range all {
		texts[i] = v.Dimension + "=" + strings.Join(v.Values, "|")
	}
	return strings.Join(texts, " ")
}

func (a *app) syncCommand() *cobra.Command {
	var country, locale, form, path string
	var whole bool
	catalog := a.command("catalog", "Keep a copy of the catalog in a file", func(
		ctx context.Context, client *gifting.Client, _ []string,
	) error {
		switch {
		case country == "":
			return terminal.AsUsageError(errCountry)
		case path == "":
			return terminal.AsUsageError(errOut)
		case !slices.Contains([]string{"sqlite", "ndjson"}, form):
			return terminal.AsUsageError(errForm)
		}
		return a.sync(ctx, client, func() (catalogcopy.Copy, error) {
			if form == "sqlite" {
				return catalogcopy.SQLite(ctx, path)
			}
			return catalogcopy.NDJSON(path)
		}, catalogcopy.State{Country: country, Locale: locale}, whole)
	})
	catalog.Long = `sync catalog loads the catalog of a country into a file, and later only what has changed. Run it every few
minutes or hours.

With --to sqlite, the file has a table products, with the whole gift as JSON in record. With --to ndjson it
has one gift on each line, and the file .state beside it says up to when. Estimates follow the exchange rates
of the day: --whole loads everything again.`
	flags := catalog.Flags()
	flags.StringVar(&country, "country", "", "country of delivery, such as SE (required)")
	flags.StringVar(&locale, "locale", "en-US", "language of names, one of the tenant's")
	flags.StringVar(&form, "to", "sqlite", "sqlite or ndjson")
	flags.StringVar(&path, "out", "", "the file (required)")
	flags.BoolVar(&whole, "whole", false, "load everything again")
	terminal.Must(catalog.RegisterFlagCompletionFunc("to", completions("sqlite", "ndjson")))
	return group("sync", "Keep copies up to date", catalog)
}

func (a *app) sync(
	ctx context.Context, client *gifting.Client, open func() (catalogcopy.Copy, error), state catalogcopy.State, whole bool,
) (err error) {
	to, err := open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	result, err := catalogcopy.Sync(ctx, client, to, state.Country, state.Locale, whole)
	if errors.Is(err, catalogcopy.ErrOther) {
		return terminal.AsUsageError(err)
	}
	if err != nil {
		return err
	}
	return a.print(result)
}
