package server

import (
	"context"
	"maps"
	"slices"
	"time"

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

// partRequest is a request that changes one part of a gift.
type partRequest interface {
	GetProductId() string
	GetActor() *commonv1.Actor
}

// changeProduct changes one part of a gift. errs has the violations of that part.
func (s *service) changeProduct(
	ctx context.Context, req partRequest, action string, detail any,
	change func(*rules.Product), check func(known rules.References) error, errs *fields.Errors,
) (*timestamppb.Timestamp, error) {
	if err := s.changesGifts(); err != nil {
		return nil, err
	}
	caller.CheckActor(req.GetActor(), errs)
	act := store.Act{
		Subject: rules.RecordID("productId", req.GetProductId(), errs), Actor: req.GetActor(), Action: action, Detail: detail,
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	updatedAt, err := s.Store.ChangeProduct(ctx, act, change, check)
	if err != nil {
		return nil, err
	}
	return timestamppb.New(updatedAt), nil
}

// PutProduct creates a gift or replaces it as a whole.
func (s *service) PutProduct(ctx context.Context, req *catalogv1.PutProductRequest) (*catalogv1.PutProductResponse, error) {
	if err := s.changesGifts(); err != nil {
		return nil, err
	}
	errs := caller.RequestErrors(ctx)
	product := rules.ReadProduct(req, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	updatedAt, err := s.Store.PutProduct(ctx, product, func(known rules.References) error { return known.CheckReferences(req) })
	if err != nil {
		return nil, err
	}
	return &catalogv1.PutProductResponse{UpdatedAt: timestamppb.New(updatedAt)}, nil
}

// SetProductState changes the state of a gift.
func (s *service) SetProductState(
	ctx context.Context, req *catalogv1.SetProductStateRequest,
) (*catalogv1.SetProductStateResponse, error) {
	errs := caller.RequestErrors(ctx)
	state := rules.ReadState(req.GetState(), errs)
	at, err := s.changeProduct(ctx, req, "product.state", map[string]rules.State{"state": state},
		func(p *rules.Product) { p.State = state }, nil, errs)
	return &catalogv1.SetProductStateResponse{UpdatedAt: at}, err
}

// SetProductPrices replaces the prices of a gift.
func (s *service) SetProductPrices(
	ctx context.Context, req *catalogv1.SetProductPricesRequest,
) (*catalogv1.SetProductPricesResponse, error) {
	errs := caller.RequestErrors(ctx)
	prices := rules.ReadPrices(req.GetPrices(), errs)
	at, err := s.changeProduct(ctx, req, "product.prices", map[string]any{"pricesEur": prices},
		func(p *rules.Product) { p.Prices = prices },
		func(known rules.References) error { return known.CheckPrices(req.GetPrices()) }, errs)
	return &catalogv1.SetProductPricesResponse{UpdatedAt: at}, err
}

// SetProductAvailability replaces the countries a gift can be supplied to.
func (s *service) SetProductAvailability(
	ctx context.Context, req *catalogv1.SetProductAvailabilityRequest,
) (*catalogv1.SetProductAvailabilityResponse, error) {
	errs := caller.RequestErrors(ctx)
	countries := rules.ReadCountries("availableCountries", req.GetAvailableCountries(), errs)
	at, err := s.changeProduct(ctx, req, "product.availability", map[string]any{"countries": countries},
		func(p *rules.Product) { p.Countries = countries }, nil, errs)
	return &catalogv1.SetProductAvailabilityResponse{UpdatedAt: at}, err
}

// SetProductTranslations replaces the translations of a gift.
func (s *service) SetProductTranslations(
	ctx context.Context, req *catalogv1.SetProductTranslationsRequest,
) (*catalogv1.SetProductTranslationsResponse, error) {
	errs := caller.RequestErrors(ctx)
	texts, details := rules.ReadTranslations(req.GetTranslations(), errs), rules.ReadDetails(req.GetTranslations(), errs)
	var variations []rules.Variation
	at, err := s.changeProduct(ctx, req, "product.translations", map[string]any{"translations": texts, "details": details},
		func(p *rules.Product) {
			all := maps.Clone(details)
			if base, ok := p.Details[rules.BaseLocale]; ok {
				all[rules.BaseLocale] = base
			}
			p.Translations, p.Details, variations = texts, all, p.Variations
		},
		func(rules.References) error {
			var unknown fields.Errors
			rules.CheckTranslations(req.GetTranslations(), variations, &unknown)
			return unknown.Err()
		}, errs)
	return &catalogv1.SetProductTranslationsResponse{UpdatedAt: at}, err
}

// GetProductRecord returns a gift in any state.
func (s *service) GetProductRecord(
	ctx context.Context, req *catalogv1.GetProductRecordRequest,
) (*catalogv1.GetProductRecordResponse, error) {
	r, found, err := s.Store.ProductRecord(ctx, idOrUnknown(req.GetProductId()))
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, problem.RecordNotFound()
	}
	return &catalogv1.GetProductRecordResponse{Record: productRecord(r)}, nil
}

// ListProductRecords pages through all gifts by id.
func (s *service) ListProductRecords(
	ctx context.Context, req *catalogv1.ListProductRecordsRequest,
) (*catalogv1.ListProductRecordsResponse, error) {
	errs := caller.RequestErrors(ctx)
	var state rules.State
	if req.GetState() != catalogv1.ProductState_PRODUCT_STATE_UNSPECIFIED {
		state = rules.ReadState(req.GetState(), errs)
	}
	bind := page.Bind("catalog/records", string(state))
	after := page.After(req.After, bind, errs)
	limit := page.Limit(req.Limit, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	found, err := s.Store.ProductRecords(ctx, state, after, limit+1)
	if err != nil {
		return nil, err
	}
	found, next := page.Cut(found, limit, bind, func(last store.ProductRecord) page.Position {
		return page.Position{Time: time.UnixMicro(0), ID: last.ID}
	})
	resp := &catalogv1.ListProductRecordsResponse{NextCursor: next}
	for _, r := range found {
		resp.Records = append(resp.Records, productRecord(r))
	}
	return resp, nil
}

func productRecord(r store.ProductRecord) *catalogv1.ProductRecord {
	return &catalogv1.ProductRecord{
		Product: putRequest(r.Product), PublishedOnce: r.PublishedOnce, UpdatedAt: timestamppb.New(r.UpdatedAt),
	}
}

// putRequest is the request that would put the gift unchanged.
func putRequest(p rules.Product) *catalogv1.PutProductRequest {
	out := &catalogv1.PutProductRequest{
		Id:    p.ID,
		State: enum[catalogv1.ProductState](string(p.State)),
		Name:  p.Text.Name, Description: p.Text.Description,
		Variations: variations(p.Variations), Categories: p.Categories, AvailableCountries: p.Countries, ImageFileIds: p.ImageFileIDs,
		CustomizationAvailable: p.CustomizationAvailable, GiftSet: p.GiftSet, ReadyToSend: p.ReadyToSend,
		Details: giftDetails(p.Details[rules.BaseLocale]), ImageVariations: imageVariations(p.ImageVariations),
	}
	for _, locale := range slices.Sorted(maps.Keys(p.Translations)) {
		t := p.Translations[locale]
		out.Translations = append(out.Translations, &catalogv1.ProductTranslation{
			Locale: locale, Name: t.Name, Description: t.Description, Variations: variationTranslations(t.Variations),
			Details: giftDetails(p.Details[locale]),
		})
	}
	for _, region := range slices.Sorted(maps.Keys(p.Prices)) {
		out.Prices = append(out.Prices, &catalogv1.RegionPrice{Region: region, AmountEur: p.Prices[region]})
	}
	return out
}
