package giftingctl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/partnergifting/platform/gateway"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/locale"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	// imagesPath follows the base address of the API in the URL of a picture.
	imagesPath = "/catalog/images/"
	// maxPreviewGifts bounds the calls of a preview.
	maxPreviewGifts = 50
	// maxSiteFile is far above the size of a gift site.
	maxSiteFile = 64 << 10
)

var (
	errUnknownBrand = errors.New("the tenant has no such brand: --brand names the id of one")
	errPublicURL    = errors.New("the brand has no logo that shows the base address of the API: set --public-url")
	errSiteTooLong  = errors.New("the file is too large for a gift site")
)

// previewCommand writes a page of the gift site as HTML, with the saved theme of a brand or a proposed one. It reads settings and
// gifts and renders the page itself, so it needs no link and changes nothing.
type previewCommand struct {
	app *app

	brand, campaign, locale, label, message, site, publicURL, out string
}

func (a *app) previewCommand() *cobra.Command {
	p := &previewCommand{app: a}
	command := &cobra.Command{
		Use: "preview PAGE", Short: "Write a page of the gift site as HTML, without a link",
		Long: `Write a page of the gift site as HTML, with the gifts of a campaign and a made-up player. Nothing is changed.

PAGE is one of ` + strings.Join(gateway.PreviewPages(), ", ") + `.

--site reads the links and the theme from a file instead of those that are saved, as the JSON of the contract:

  {"privacyUrl": "https://…", "theme": {"accentColour": "#C8102E", "typeface": "TYPEFACE_SERIF"}}

The style sheet, the fonts and the pictures are loaded from the platform when you open the page below --public-url.`,
		Args: arguments(1), ValidArgs: gateway.PreviewPages(),
		RunE: func(command *cobra.Command, args []string) error { return p.run(command.Context(), args[0]) },
	}
	flags := command.Flags()
	flags.StringVar(&p.brand, "brand", "", "id of the brand")
	flags.StringVar(&p.campaign, "campaign", "", "id of the campaign whose gifts are shown")
	flags.StringVar(&p.locale, "locale", locale.Base, "locale of the link")
	flags.StringVar(&p.label, "label", "Alex", "name of the player")
	flags.StringVar(&p.message, "message", "", "message of the link")
	flags.StringVar(&p.site, "site", "", "file with a proposed gift site; - is the standard input")
	flags.StringVar(&p.publicURL, "public-url", "", "base address of the API; default: that of the brand's logo")
	flags.StringVar(&p.out, "out", "-", "file to write; - is the standard output")
	must(command.MarkFlagRequired("brand"))
	must(command.MarkFlagRequired("campaign"))
	return command
}

func (p *previewCommand) run(ctx context.Context, page string) error {
	of, err := p.app.chosen()
	if err != nil {
		return err
	}
	if p.app.tenant != "" {
		of.Tenant = p.app.tenant
	}
	if of.Tenant == "" {
		return usage(errTenant)
	}
	link := &linksv1.GetClaimPageResponse{Locale: p.locale, Label: p.label}
	if p.message != "" {
		link.Message = &p.message
	}
	if err := p.readBrand(ctx, of, link); err != nil {
		return err
	}
	if err := p.readCampaign(ctx, of, link); err != nil {
		return err
	}
	html, err := gateway.PreviewGiftSite(page, link, p.publicURL)
	if err != nil {
		return usage(err)
	}
	if p.out == "-" {
		_, err = p.app.Out.Write(html)
		return err
	}
	if err := os.WriteFile(p.out, html, 0o600); err != nil {
		return usage(err)
	}
	return nil
}

// readBrand fills the brand of the page and, if it is not given, the base address of the API.
func (p *previewCommand) readBrand(ctx context.Context, of chosen, link *linksv1.GetClaimPageResponse) error {
	conn, err := p.app.dial(of, identity.Tenants)
	if err != nil {
		return err
	}
	defer conn.close()
	acting, err := of.actor()
	if err != nil {
		return err
	}
	found := &tenantsv1.GetTenantResponse{}
	req := &tenantsv1.GetTenantRequest{Actor: acting, TenantId: of.Tenant}
	if err := conn.call(ctx, tenantsv1.TenantOperationsService_GetTenant_FullMethodName, req, found); err != nil {
		return err
	}
	i := slices.IndexFunc(found.GetBrands(), func(b *tenantsv1.Brand) bool { return b.GetId() == p.brand })
	if i < 0 {
		return usage(errUnknownBrand)
	}
	brand := found.GetBrands()[i]
	link.Brand = &linksv1.ClaimBrand{Name: brand.GetName(), PrimaryColour: brand.PrimaryColour, LogoUrl: brand.LogoUrl}
	for _, s := range found.GetGiftSites() {
		if s.GetBrandId() == p.brand {
			link.Brand.Site = s.GetSite()
		}
	}
	if err := p.propose(link.GetBrand()); err != nil {
		return usage(err)
	}
	if p.publicURL == "" {
		base, _, ok := strings.Cut(brand.GetLogoUrl(), imagesPath)
		if !ok {
			return usage(errPublicURL)
		}
		p.publicURL = base
	}
	if hero := link.GetBrand().GetSite().GetTheme().GetHeroImageId(); hero != "" {
		link.Brand.Hero = []*linksv1.ClaimImage{{Url: p.publicURL + imagesPath + hero}}
	}
	return nil
}

// propose replaces the saved site by the one in the file.
func (p *previewCommand) propose(brand *linksv1.ClaimBrand) error {
	if p.site == "" {
		return nil
	}
	from := p.app.In
	if p.site != "-" {
		file, err := os.Open(p.site)
		if err != nil {
			return fmt.Errorf("site: %w", err)
		}
		defer func() { _ = file.Close() }() // It was only read.
		from = file
	}
	content, err := io.ReadAll(io.LimitReader(from, maxSiteFile+1))
	if err != nil {
		return fmt.Errorf("site: %w", err)
	}
	if len(content) > maxSiteFile {
		return errSiteTooLong
	}
	brand.Site = &tenantsv1.GiftSite{}
	if err := protojson.Unmarshal(content, brand.GetSite()); err != nil {
		return fmt.Errorf("site: %w", err)
	}
	return nil
}

// readCampaign fills the greeting and the gifts of the page.
func (p *previewCommand) readCampaign(ctx context.Context, of chosen, link *linksv1.GetClaimPageResponse) error {
	conn, err := p.app.dial(of, identity.Catalog)
	if err != nil {
		return err
	}
	defer conn.close()
	found := &catalogv1.GetCampaignRecordResponse{}
	req := &catalogv1.GetCampaignRecordRequest{TenantId: of.Tenant, CampaignId: p.campaign}
	if err := conn.call(ctx, catalogv1.CampaignOperationsService_GetCampaignRecord_FullMethodName, req, found); err != nil {
		return err
	}
	for _, name := range locale.Fallbacks(p.locale) {
		for _, g := range found.GetRecord().GetGreetings() {
			if g.GetLocale() == name && link.Greeting == nil {
				link.Greeting = &g.Text
			}
		}
	}
	offerings := found.GetRecord().GetOfferings()
	for _, o := range offerings[:min(len(offerings), maxPreviewGifts)] {
		gift := &catalogv1.GetProductRecordResponse{}
		asked := &catalogv1.GetProductRecordRequest{ProductId: o.GetProductId()}
		if err := conn.call(ctx, catalogv1.ProductOperationsService_GetProductRecord_FullMethodName, asked, gift); err != nil {
			return err
		}
		link.Gifts = append(link.Gifts, p.gift(gift.GetRecord().GetProduct(), o))
	}
	return nil
}

// gift is an offering as the page of a link has it.
func (p *previewCommand) gift(product *catalogv1.PutProductRequest, o *catalogv1.OfferingRecord) *linksv1.ClaimGift {
	g := &linksv1.ClaimGift{ProductId: product.GetId(), Countries: product.GetAvailableCountries()}
	var words []*catalogv1.VariationTranslation
	for _, name := range locale.Fallbacks(p.locale) {
		for _, t := range product.GetTranslations() {
			if t.GetLocale() == name {
				g.Name, g.Description = cmp.Or(g.GetName(), t.GetName()), cmp.Or(g.GetDescription(), t.GetDescription())
				words = append(words, t.GetVariations()...)
			}
		}
	}
	g.Name, g.Description = cmp.Or(g.GetName(), product.GetName()), cmp.Or(g.GetDescription(), product.GetDescription())
	for _, id := range product.GetImageFileIds() {
		g.Images = append(g.Images, &linksv1.ClaimImage{Url: p.publicURL + imagesPath + id})
	}
	for _, v := range product.GetVariations() {
		g.Variations = append(g.Variations, variationOf(v, words))
	}
	for _, s := range o.GetSkus() {
		if s.StockRemaining == nil || s.GetStockRemaining() > 0 {
			g.Choices = append(g.Choices, &linksv1.ClaimChoice{Variations: s.GetVariations()})
		}
	}
	g.OutOfStock = len(g.GetChoices()) == 0
	return g
}

// variationOf shows a dimension in the first words that are known.
func variationOf(v *catalogv1.Variation, words []*catalogv1.VariationTranslation) *linksv1.ClaimVariation {
	out := &linksv1.ClaimVariation{Dimension: v.GetDimension(), Values: v.GetValues(), ValueNames: slices.Clone(v.GetValues())}
	for _, w := range slices.Backward(words) {
		if w.GetDimension() != v.GetDimension() {
			continue
		}
		out.Name = w.GetName()
		for i, value := range v.GetValues() {
			out.ValueNames[i] = cmp.Or(w.GetValues()[value], out.GetValueNames()[i])
		}
	}
	out.Name = cmp.Or(out.GetName(), v.GetDimension())
	return out
}
