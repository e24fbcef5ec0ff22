package server

import (
	"context"
	"maps"
	"slices"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// campaignRequest is a request that changes a campaign.
type campaignRequest interface {
	GetTenantId() string
	GetCampaignId() string
	GetActor() *commonv1.Actor
}

// campaignAct reads a change of a campaign, reports its violations together with errs, and refuses a tenant that is not in this
// cell.
func (s *service) campaignAct(
	ctx context.Context, req campaignRequest, action string, detail any, errs *fields.Errors,
) (store.Act, error) {
	caller.CheckActor(req.GetActor(), errs)
	act := store.Act{
		TenantID: errs.UUID("tenantId", req.GetTenantId()), Subject: errs.UUID("campaignId", req.GetCampaignId()),
		Actor: req.GetActor(), Action: action, Detail: detail,
	}
	if err := errs.Err(); err != nil {
		return act, err
	}
	return act, s.tenants.Here(ctx, act.TenantID)
}

// GetCampaignRecord returns a campaign with its offerings and stock.
func (s *service) GetCampaignRecord(
	ctx context.Context, req *catalogv1.GetCampaignRecordRequest,
) (*catalogv1.GetCampaignRecordResponse, error) {
	c, found, err := s.Store.Campaign(ctx, idOrUnknown(req.GetTenantId()), idOrUnknown(req.GetCampaignId()), rules.BaseLocale)
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, problem.RecordNotFound()
	}
	record := campaignRecord(c.CampaignHead)
	greetings, err := s.Store.Greetings(ctx, c.TenantID, c.ID)
	if err != nil {
		return nil, err
	}
	for _, locale := range slices.Sorted(maps.Keys(greetings)) {
		record.Greetings = append(record.Greetings, &catalogv1.CampaignGreeting{Locale: locale, Text: greetings[locale]})
	}
	for _, offering := range c.Offerings {
		record.Offerings = append(record.Offerings, offeringRecord(offering))
	}
	return &catalogv1.GetCampaignRecordResponse{Record: record}, nil
}

// ListCampaignRecords pages through a tenant's campaigns, newest first.
func (s *service) ListCampaignRecords(
	ctx context.Context, req *catalogv1.ListCampaignRecordsRequest,
) (*catalogv1.ListCampaignRecordsResponse, error) {
	errs := caller.RequestErrors(ctx)
	filter := store.CampaignFilter{
		TenantID: errs.UUID("tenantId", req.GetTenantId()), AllBrands: true, BrandID: errs.OptionalUUID("brandId", req.BrandId),
	}
	if req.GetStatus() != catalogv1.CampaignStatus_CAMPAIGN_STATUS_UNSPECIFIED {
		filter.Status = rules.ReadCampaignStatus(req.GetStatus(), errs)
	}
	bind := page.Bind("catalog/campaigns", filter.TenantID, page.Part(filter.BrandID), filter.Status)
	filter.After = page.After(req.After, bind, errs)
	limit := page.Limit(req.Limit, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	filter.Limit = limit + 1
	found, err := s.Store.Campaigns(ctx, filter)
	if err != nil {
		return nil, err
	}
	found, next := page.Cut(found, limit, bind, store.CampaignHead.Position)
	resp := &catalogv1.ListCampaignRecordsResponse{NextCursor: next}
	for _, c := range found {
		resp.Records = append(resp.Records, campaignRecord(c))
	}
	return resp, nil
}

func campaignRecord(c store.CampaignHead) *catalogv1.CampaignRecord {
	return &catalogv1.CampaignRecord{
		Id: c.ID, TenantId: c.TenantID, BrandId: c.BrandID, Name: c.Name, Status: enum[catalogv1.CampaignStatus](c.Status),
		ExpiresAt: timestamp(c.ExpiresAt), CreatedAt: timestamppb.New(c.CreatedAt),
	}
}

func offeringRecord(o store.OfferingView) *catalogv1.OfferingRecord {
	return &catalogv1.OfferingRecord{
		ProductId: o.ProductID, ProductName: o.Text.Name, ProductPublished: o.Published,
		Status:     enum[catalogv1.OfferingStatus](o.Status),
		SupplyType: enum[catalogv1.SupplyType](o.SupplyType), Skus: skus(o.SKUs),
	}
}

// PutCampaign creates a campaign of a tenant's brand or replaces it whole, except for the stock of SKUs that exist.
func (s *service) PutCampaign(
	ctx context.Context, req *catalogv1.PutCampaignRequest,
) (*catalogv1.PutCampaignResponse, error) {
	errs := caller.RequestErrors(ctx)
	campaign := rules.ReadCampaign(req, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	if err := s.checkBrand(ctx, campaign.TenantID, campaign.BrandID); err != nil {
		return nil, err
	}
	return &catalogv1.PutCampaignResponse{}, s.Store.PutCampaign(ctx, campaign)
}

// StartCampaign opens a campaign in preparation for orders.
func (s *service) StartCampaign(
	ctx context.Context, req *catalogv1.StartCampaignRequest,
) (*catalogv1.StartCampaignResponse, error) {
	errs := caller.RequestErrors(ctx)
	act, err := s.campaignAct(ctx, req, "campaign.start", nil, errs)
	if err != nil {
		return nil, err
	}
	return &catalogv1.StartCampaignResponse{}, s.Store.StartCampaign(ctx, act)
}

// CompleteCampaign ends a campaign for orders.
func (s *service) CompleteCampaign(
	ctx context.Context, req *catalogv1.CompleteCampaignRequest,
) (*catalogv1.CompleteCampaignResponse, error) {
	errs := caller.RequestErrors(ctx)
	act, err := s.campaignAct(ctx, req, "campaign.complete", nil, errs)
	if err != nil {
		return nil, err
	}
	return &catalogv1.CompleteCampaignResponse{}, s.Store.CompleteCampaign(ctx, act)
}

// SetCampaignGreetings replaces what the gift site says above the gifts of a campaign.
func (s *service) SetCampaignGreetings(
	ctx context.Context, req *catalogv1.SetCampaignGreetingsRequest,
) (*catalogv1.SetCampaignGreetingsResponse, error) {
	errs := caller.RequestErrors(ctx)
	greetings := rules.ReadGreetings(req.GetGreetings(), errs)
	act, err := s.campaignAct(ctx, req, "campaign.greetings", map[string]any{"greetings": greetings}, errs)
	if err != nil {
		return nil, err
	}
	return &catalogv1.SetCampaignGreetingsResponse{}, s.Store.SetGreetings(ctx, act, greetings)
}

// PutOffering adds an offering to a campaign or replaces the one of the same gift.
func (s *service) PutOffering(
	ctx context.Context, req *catalogv1.PutOfferingRequest,
) (*catalogv1.PutOfferingResponse, error) {
	errs := caller.RequestErrors(ctx)
	offering := rules.ReadOffering("offering", req.GetOffering(), errs)
	act, err := s.campaignAct(ctx, req, "offering.put", map[string]any{
		"productId": offering.ProductID, "supplyType": offering.SupplyType, "skus": offering.SKUs,
	}, errs)
	if err != nil {
		return nil, err
	}
	return &catalogv1.PutOfferingResponse{}, s.Store.PutOffering(ctx, act, offering)
}

// RemoveOffering stops offering a gift in a campaign.
func (s *service) RemoveOffering(
	ctx context.Context, req *catalogv1.RemoveOfferingRequest,
) (*catalogv1.RemoveOfferingResponse, error) {
	errs := caller.RequestErrors(ctx)
	productID := errs.UUID("productId", req.GetProductId())
	act, err := s.campaignAct(ctx, req, "offering.remove", map[string]string{"productId": productID}, errs)
	if err != nil {
		return nil, err
	}
	return &catalogv1.RemoveOfferingResponse{}, s.Store.RemoveOffering(ctx, productID, act)
}

// ResumeOffering ends the review of an offering.
func (s *service) ResumeOffering(
	ctx context.Context, req *catalogv1.ResumeOfferingRequest,
) (*catalogv1.ResumeOfferingResponse, error) {
	errs := caller.RequestErrors(ctx)
	productID := errs.UUID("productId", req.GetProductId())
	act, err := s.campaignAct(ctx, req, "offering.resume", map[string]string{"productId": productID}, errs)
	if err != nil {
		return nil, err
	}
	return &catalogv1.ResumeOfferingResponse{}, s.Store.ResumeOffering(ctx, productID, act)
}

// CorrectStock changes the stock of a SKU, once per correction id.
func (s *service) CorrectStock(
	ctx context.Context, req *catalogv1.CorrectStockRequest,
) (*catalogv1.CorrectStockResponse, error) {
	errs := caller.RequestErrors(ctx)
	id := rules.RecordID("correctionId", req.GetCorrectionId(), errs)
	correction := rules.ReadCorrection(req, errs)
	act, err := s.campaignAct(ctx, req, "stock.correct", nil, errs)
	if err != nil {
		return nil, err
	}
	after, err := s.Store.CorrectStock(ctx, id, act, correction)
	if err != nil {
		return nil, err
	}
	return &catalogv1.CorrectStockResponse{StockRemaining: after}, nil
}
