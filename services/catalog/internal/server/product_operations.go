package server

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

// sideRequest is a request that changes one part of a gift.
type sideRequest interface {
	GetProductId() string
	GetActor() *commonv1.Actor
}

// change changes one part of a gift. errs has the violations of that part.
func (o *productOperations) change(
	ctx context.Context, req sideRequest, action string, detail any,
	change func(*rules.Product), check func(known rules.Known) error, errs *fields.Errors,
) (*timestamppb.Timestamp, error) {
	act := store.Act{
		Subject: rules.RecordID("productId", req.GetProductId(), errs), Actor: rules.ReadActor(req.GetActor(), errs),
		Action: action, Detail: detail,
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	updatedAt, err := o.store.ChangeProduct(ctx, act, change, check)
	if err != nil {
		return nil, err
	}
	return timestamppb.New(updatedAt), nil
}

// PutProduct creates a gift or replaces it as a whole.
func (o *operations) PutProduct(ctx context.Context, req *catalogv1.PutProductRequest) (*catalogv1.PutProductResponse, error) {
	errs := caller.RequestErrors(ctx)
	product := rules.ReadProduct(req, errs)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	updatedAt, err := o.Store.PutProduct(ctx, product, func(known rules.Known) error { return known.CheckReferences(req) })
	if err != nil {
		return nil, err
	}
	return &catalogv1.PutProductResponse{UpdatedAt: timestamppb.New(updatedAt)}, nil
}

// SetProductState changes the state of a gift.
func (o *productOperations) SetProductState(
	ctx context.Context, req *catalogv1.SetProductStateRequest,
) (*catalogv1.SetProductStateResponse, error) {
	errs := caller.RequestErrors(ctx)
	state := rules.ReadState(req.GetState(), errs)
	at, err := o.change(ctx, req, "product.state", map[string]rules.State{"state": state},
		func(p *rules.Product) { p.State = state }, nil, errs)
	return &catalogv1.SetProductStateResponse{UpdatedAt: at}, err
}

// SetProductPrices replaces the prices of a gift.
func (o *productOperations) SetProductPrices(
	ctx context.Context, req *catalogv1.SetProductPricesRequest,
) (*catalogv1.SetProductPricesResponse, error) {
	errs := caller.RequestErrors(ctx)
	prices := rules.ReadPrices(req.GetPrices(), errs)
	at, err := o.change(ctx, req, "product.prices", map[string]any{"pricesEur": prices},
		func(p *rules.Product) { p.Prices = prices },
		func(known rules.Known) error { return known.CheckPrices(req.GetPrices()) }, errs)
	return &catalogv1.SetProductPricesResponse{UpdatedAt: at}, err
}

// SetProductAvailability replaces the countries a gift can be supplied to.
func (o *productOperations) SetProductAvailability(
	ctx context.Context, req *catalogv1.SetProductAvailabilityRequest,
) (*catalogv1.SetProductAvailabilityResponse, error) {
	errs := caller.RequestErrors(ctx)
	countries := rules.ReadCountries("availableCountries", req.GetAvailableCountries(), errs)
	at, err := o.change(ctx, req, "product.availability", map[string]any{"countries": countries},
		func(p *rules.Product) { p.Countries = countries }, nil, errs)
	return &catalogv1.SetProductAvailabilityResponse{UpdatedAt: at}, err
}

// SetProductTranslations replaces the translations of a gift.
func (o *productOperations) SetProductTranslations(
	ctx context.Context, req *catalogv1.SetProductTranslationsRequest,
) (*catalogv1.SetProductTranslationsResponse, error) {
	errs := caller.RequestErrors(ctx)
	texts := rules.ReadTranslations(req.GetTranslations(), errs)
	var variations []rules.Variation
	at, err := o.change(ctx, req, "product.translations", map[string]any{"translations": texts},
		func(p *rules.Product) { p.Translations, variations = texts, p.Variations },
		func(rules.Known) error {
			var unknown fields.Errors
			rules.CheckTranslations(req.GetTranslations(), variations, &unknown)
			return unknown.Err()
		}, errs)
	return &catalogv1.SetProductTranslationsResponse{UpdatedAt: at}, err
}
