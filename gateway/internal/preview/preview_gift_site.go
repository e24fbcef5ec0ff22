// Package preview serves the operations plane of the gift site: previews of its pages for those who set the theme of a brand.
//
// A preview needs no link and changes nothing. Its document loads nothing: the pictures inside come from the catalog alone, because
// an address in the settings of a brand may lead anywhere.
package preview

import (
	"context"
	"encoding/base64"
	"strings"
	"time"

	"github.com/partnergifting/platform/gateway/internal/giftsite"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	giftsitev1 "github.com/partnergifting/platform/proto/gen/gifting/giftsite/v1"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

const (
	// maxAtOnce bounds the memory of previews: each holds its document and a picture.
	maxAtOnce = 4
	// slotTimeout bounds how long a preview waits for others, and timeout how long it takes: it reads up to some dozens of pictures.
	slotTimeout = 2 * time.Second
	timeout     = 10 * time.Second
)

// access is the permission of the call. A preview shows no personal data. It may show a campaign before its start, to all of the
// team.
var access = caller.Permission{Team: caller.EveryTeamRole(), Operator: true, System: true}

// Deps are what a Server works with.
type Deps struct {
	Site *giftsite.Site
	// Links calls the cell that the context names.
	Links   linksv1.GiftSiteServiceClient
	Images  catalogv1.ImagesServiceClient
	Tenants *tenants.Cache
	// Letters returns the letters of all cells.
	Letters func(ctx context.Context) []string
}

// Config of a Server. ImageURL is the address of an image of the catalog without its id.
type Config struct {
	ImageURL string
}

// Server implements GiftSiteOperationsService.
type Server struct {
	giftsitev1.UnimplementedGiftSiteOperationsServiceServer

	deps     Deps
	pictures pictures
	// slots has an entry for each preview in flight.
	slots chan struct{}
}

// New makes a Server.
func New(deps Deps, cfg Config) *Server {
	return &Server{deps: deps, pictures: pictures{images: deps.Images, base: cfg.ImageURL}, slots: make(chan struct{}, maxAtOnce)}
}

// PreviewGiftSite renders a page of a brand's gift site.
func (s *Server) PreviewGiftSite(
	ctx context.Context, req *giftsitev1.PreviewGiftSiteRequest,
) (*giftsitev1.PreviewGiftSiteResponse, error) {
	page, err := check(req)
	if err != nil {
		return nil, err
	}
	if err := s.deps.Tenants.Permit(ctx, page.GetTenantId(), req.GetActor(), access); err != nil {
		return nil, err
	}
	if err := s.enter(ctx); err != nil {
		return nil, err
	}
	defer func() { <-s.slots }()
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	found, err := s.read(ctx, page)
	if err != nil {
		return nil, err
	}
	link := found.GetPage()
	if page.CampaignId == nil {
		link.Gifts = exampleGifts()
	}
	content, err := s.deps.Site.Preview(ctx, giftsite.Preview{
		Page: req.GetPage(), Link: link, Device: req.GetDevice(), Picture: s.pictures.dataURL,
	})
	if err != nil {
		return nil, err
	}
	return &giftsitev1.PreviewGiftSiteResponse{Html: string(content)}, nil
}

// read reads the page in the cell of its tenant. With one cell, the tenants service is not asked.
func (s *Server) read(ctx context.Context, page *linksv1.GetPreviewPageRequest) (*linksv1.GetPreviewPageResponse, error) {
	if len(s.deps.Letters(ctx)) > 1 {
		settings, err := s.deps.Tenants.Fresh(ctx, page.GetTenantId())
		if err != nil {
			return nil, err
		}
		ctx = caller.InCell(ctx, settings.GetCell())
	}
	return s.deps.Links.GetPreviewPage(ctx, page)
}

// enter waits for a slot.
func (s *Server) enter(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, slotTimeout)
	defer cancel()
	select {
	case s.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return problem.Unavailable()
	}
}

// check finds all errors of a request but those of the locale, which depend on the tenant, and returns the request of the page.
func check(req *giftsitev1.PreviewGiftSiteRequest) (*linksv1.GetPreviewPageRequest, error) {
	errs := &fields.Errors{}
	caller.CheckActor(req.GetActor(), errs)
	page := &linksv1.GetPreviewPageRequest{
		TenantId: errs.RequiredUUID("tenantId", req.GetTenantId()), BrandId: errs.RequiredUUID("brandId", req.GetBrandId()),
		CampaignId: errs.OptionalUUID("campaignId", req.CampaignId), Locale: req.Locale,
	}
	if req.GetPage() == giftsitev1.PreviewPage_PREVIEW_PAGE_UNSPECIFIED {
		errs.Add("page", problem.FieldRequired, "is required")
	}
	checkEnum("page", req.GetPage(), errs)
	checkEnum("device", req.GetDevice(), errs)
	if req.GetSite() != nil {
		page.Site = fields.CheckGiftSite(req.GetSite(), errs)
	}
	if req.Greeting != nil {
		page.Greeting = new(fields.CheckGreeting("greeting", req.GetGreeting(), errs))
	}
	return page, errs.Err()
}

// checkEnum requires a value that the enum has, or none.
func checkEnum[E enumname.Enum](field string, value E, errs *fields.Errors) {
	names := enumname.Of(value.Descriptor())
	if _, known := names.Name(value.Number()); !known && value != 0 {
		errs.Add(field, problem.FieldInvalid, "must be one of "+strings.Join(names.All(), ", "))
	}
}

// exampleGifts are on the pages of a preview without a campaign. The first one has something to choose.
func exampleGifts() []*linksv1.ClaimGift {
	countries := []string{"SE", "DE", "GB"}
	sizes := []string{"S", "M", "L"}
	return []*linksv1.ClaimGift{
		{
			ProductId: "example-1", Name: "Example sweatshirt", Description: "Soft organic cotton.", Countries: countries,
			Variations: []*linksv1.ClaimVariation{{Dimension: "Size", Name: "Size", Values: sizes, ValueNames: sizes}},
		},
		{ProductId: "example-2", Name: "Example chocolates", Description: "Twelve pieces, made by hand.", Countries: countries},
		{ProductId: "example-3", Name: "Example mug", Description: "Glazed, for coffee or tea.", Countries: countries},
	}
}

// pictures reads images of the catalog, and no others.
type pictures struct {
	images catalogv1.ImagesServiceClient
	// base is the address of an image without its id.
	base string
}

// dataURL returns the image as a data URL of at most limit bytes. It is empty for a larger image, for one that is not public or
// whose file is lost, and for an address that is not of the catalog.
func (p pictures) dataURL(ctx context.Context, address string, limit int) (string, error) {
	id, own := strings.CutPrefix(address, p.base)
	if !own || limit <= 0 {
		return "", nil
	}
	image, err := p.images.GetImage(ctx, &catalogv1.GetImageRequest{FileId: id})
	switch {
	case problem.Is(err, problem.NotFound), problem.Is(err, problem.InternalError):
		return "", nil
	case err != nil:
		return "", err
	}
	prefix := "data:" + image.GetContentType() + ";base64,"
	if len(prefix)+base64.StdEncoding.EncodedLen(len(image.GetContent())) > limit {
		return "", nil
	}
	return prefix + base64.StdEncoding.EncodeToString(image.GetContent()), nil
}
