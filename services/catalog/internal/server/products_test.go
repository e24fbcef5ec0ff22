package server_test

import (
	"encoding/base64"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/page/pagetest"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

func TestEstimatesDependOnCountryAndCurrency(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.putRegion("NORDICS", "SE", "FI")
	p := gift(func(p *catalogv1.PutProductRequest) {
		p.Prices = []*catalogv1.RegionPrice{{Region: "NORDICS", AmountEur: "10"}}
	})
	before := f.put(p)
	get := func(country string, version int64) *catalogv1.Product {
		t.Helper()
		r, err := f.catalog.GetProduct(f.keyContext(version), &catalogv1.GetProductRequest{ProductId: p.GetId(), Country: country})
		require.NoError(t, err)
		return r.GetProduct()
	}
	t.Run("no gift is priced in a currency without rate", func(t *testing.T) {
		got := get("SE", 1)
		require.False(t, got.GetPriced())
		require.Nil(t, got.GetEstimateEur())
		require.Nil(t, got.GetEstimate())
	})
	t.Run("a new rate counts immediately and does not change updatedAt", func(t *testing.T) {
		f.putRate("SEK", "11")
		f.putRate("SEK", "11.5")
		got := get("SE", 1)
		require.Equal(t, "115.00", got.GetEstimate().GetAmount())
		require.Equal(t, before, got.GetUpdatedAt().AsTime())
	})
	t.Run("a changed currency of the tenant counts from the version the edge saw", func(t *testing.T) {
		calls := func() int { return f.directory.Calls("GetTenantSettings") }
		before := calls()
		f.directory.ChangeTenant(tenantID, func(s *tenantstest.Settings) { s.Tenant.Currency = "EUR" })
		require.Equal(t, "SEK", get("SE", 1).GetEstimate().GetCurrency())
		require.Equal(t, before, calls(), "the cache is used while nothing has changed")
		require.Equal(t, "EUR", get("SE", 2).GetEstimate().GetCurrency())
		require.Equal(t, "10.00", get("SE", 2).GetEstimate().GetAmount())
		require.Equal(t, before+1, calls())
	})
}

func TestACursorBelongsToItsQuery(t *testing.T) {
	t.Parallel()
	f := setup(t)
	f.put(gift())
	f.put(gift())
	since := timestamppb.New(time.Unix(0, 0))
	first := func(req *catalogv1.ListProductsRequest) *string {
		req.Limit = limit(1)
		return call(f, f.catalog.ListProducts, req).NextCursor
	}
	after := first(&catalogv1.ListProductsRequest{Country: "SE"})
	changed := first(&catalogv1.ListProductsRequest{Country: "SE", UpdatedSince: since})
	forged, err := base64.RawURLEncoding.DecodeString(*changed)
	require.NoError(t, err)
	forged[9] = 0x7f // The first byte of the time, which is then far beyond the database's range.
	testInvalid(f, f.catalog.ListProducts, map[string]invalidRequest[*catalogv1.ListProductsRequest]{
		"without updatedSince": {&catalogv1.ListProductsRequest{Country: "SE", After: changed}, codes{"after": "invalid"}},
		"another updatedSince": {
			&catalogv1.ListProductsRequest{
				Country: "SE", UpdatedSince: timestamppb.New(time.Unix(1, 0)), After: changed,
			}, codes{"after": "invalid"},
		},
		"a time out of reach": {
			&catalogv1.ListProductsRequest{Country: "SE", UpdatedSince: since, After: text(base64.RawURLEncoding.EncodeToString(forged))},
			codes{"after": "invalid"},
		},
		"with an invalid filter, which is reported alone": {&catalogv1.ListProductsRequest{After: after}, codes{"country": "required"}},
	})
	one := &catalogv1.ListProductsRequest{Country: "SE", Limit: limit(1)}
	pagetest.RequireBound(t, one, func(req *catalogv1.ListProductsRequest) (string, error) {
		resp, err := f.catalog.ListProducts(f.keyContext(1), req)
		return resp.GetNextCursor(), err
	}, map[protoreflect.Name]any{"country": "FI", "locale": "sv-SE"})
	for _, locale := range []string{"en-US", " "} { // Both mean the same as no locale.
		call(f, f.catalog.ListProducts, &catalogv1.ListProductsRequest{Country: "SE", Locale: &locale, After: after})
	}
}

func TestInvalidQueries(t *testing.T) {
	t.Parallel()
	f := setup(t)
	t.Run("all violations are reported together with the edge's", func(t *testing.T) {
		ctx := f.keyContext(1, problem.Violation{Field: "updatedSince", Code: problem.FieldInvalid, Message: "must be an instant"})
		_, err := f.catalog.ListProducts(ctx, &catalogv1.ListProductsRequest{Locale: text("xx"), Limit: limit(0), After: text("?")})
		require.Equal(t, codes{
			"updatedSince": "invalid", "country": "required", "locale": "not_enabled", "limit": "invalid", "after": "invalid",
		}, violationsOf(t, err))
	})
	require.Equal(t, codes{"locale": "not_enabled"},
		violations(f, f.catalog.ListCategories, &catalogv1.ListCategoriesRequest{Locale: text("de-DE")}))
	require.Equal(t, codes{"updatedSince": "invalid"}, violations(f, f.catalog.ListProducts,
		&catalogv1.ListProductsRequest{Country: "SE", UpdatedSince: &timestamppb.Timestamp{Seconds: 1 << 60}}), "beyond the calendar")
	_, err := f.catalog.ListProducts(t.Context(), &catalogv1.ListProductsRequest{Country: "SE"})
	require.True(t, problem.Is(err, problem.InvalidAPIKey), "%v", err)
}
