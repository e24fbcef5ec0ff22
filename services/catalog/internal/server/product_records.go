package server

import (
	"context"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// GetProductRecord returns a gift in any state.
func (o *productOperations) GetProductRecord(
	ctx context.Context, req *catalogv1.GetProductRecordRequest,
) (*catalogv1.GetProductRecordResponse, error) {
	r, found, err := o.store.ProductRecord(ctx, idOrUnknown(req.GetProductId()))
	if err != nil {
		return nil, err
	}
	if !found {
		return nil, problem.RecordNotFound()
	}
	return &catalogv1.GetProductRecordResponse{Record: productRecord(r)}, nil
}

// ListProductRecords pages through all gifts by id.
func (o *productOperations) ListProductRecords(
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
	found, err := o.store.ProductRecords(ctx, state, after, limit+1)
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
	}
	for _, locale := range slices.Sorted(maps.Keys(p.Translations)) {
		t := p.Translations[locale]
		out.Translations = append(out.Translations, &catalogv1.ProductTranslation{
			Locale: locale, Name: t.Name, Description: t.Description, Variations: variationTranslations(t.Variations),
		})
	}
	for _, region := range slices.Sorted(maps.Keys(p.Prices)) {
		out.Prices = append(out.Prices, &catalogv1.RegionPrice{Region: region, AmountEur: p.Prices[region]})
	}
	return out
}
