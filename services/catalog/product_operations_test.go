package catalog_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
)

const (
	draft    = catalogv1.ProductState_PRODUCT_STATE_DRAFT
	archived = catalogv1.ProductState_PRODUCT_STATE_ARCHIVED
	internal = catalogv1.ProductState_PRODUCT_STATE_INTERNAL
)

// staff is a person of the back office.
func staff() *commonv1.Actor {
	return &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "staff-7", Name: "Ines Holm"}
}

// audit gives the actions on a record, newest first.
func (s *stack) audit(subject string) (actions []string) {
	s.t.Helper()
	req := &catalogv1.ListAuditRequest{SubjectId: subject, Limit: limit(2)}
	for {
		got, err := s.products.ListAudit(s.t.Context(), req)
		require.NoError(s.t, err)
		for _, e := range got.GetEntries() {
			actions = append(actions, e.GetAction())
			require.Equal(s.t, "staff-7", e.GetActor().GetId())
			require.Empty(s.t, e.GetActor().GetName())
			require.NotNil(s.t, e.GetAt())
		}
		if got.NextCursor == nil {
			return actions
		}
		req.After = got.NextCursor
	}
}

func (s *stack) record(id string) *catalogv1.ProductRecord {
	s.t.Helper()
	got, err := s.products.GetProductRecord(s.t.Context(), &catalogv1.GetProductRecordRequest{ProductId: id})
	require.NoError(s.t, err)
	return got.GetRecord()
}

func TestAGiftIsChangedOneSideAtATime(t *testing.T) {
	s := setup(t)
	s.putRegion("NORDICS", "SE")
	s.putRate("NOK", "11.50")
	p := gift(withState(draft))
	s.put(p)
	id, ctx := p.GetId(), t.Context()

	_, err := s.products.SetProductPrices(ctx, &catalogv1.SetProductPricesRequest{
		ProductId: id, Actor: staff(), Prices: []*catalogv1.RegionPrice{{Region: "NORDICS", AmountEur: "7.5"}},
	})
	require.NoError(t, err)
	_, err = s.products.SetProductAvailability(ctx, &catalogv1.SetProductAvailabilityRequest{
		ProductId: id, Actor: staff(), AvailableCountries: []string{"SE", "FI"},
	})
	require.NoError(t, err)
	_, err = s.products.SetProductTranslations(ctx, &catalogv1.SetProductTranslationsRequest{
		ProductId: id, Actor: staff(), Translations: []*catalogv1.ProductTranslation{{Locale: "sv-SE", Name: "Ullfilt"}},
	})
	require.NoError(t, err)
	published, err := s.products.SetProductState(ctx, &catalogv1.SetProductStateRequest{
		ProductId: id, Actor: staff(), State: catalogv1.ProductState_PRODUCT_STATE_PUBLISHED,
	})
	require.NoError(t, err)

	got, err := s.catalog.GetProduct(s.as(1), &catalogv1.GetProductRequest{ProductId: id, Country: "FI", Locale: text("sv-SE")})
	require.NoError(t, err)
	require.Equal(t, "Ullfilt", got.GetProduct().GetName())
	require.True(t, got.GetProduct().GetAvailable())
	require.False(t, got.GetProduct().GetPriced(), "Finland is in no region")
	require.Equal(t, published.GetUpdatedAt().AsTime(), got.GetProduct().GetUpdatedAt().AsTime())
	require.Equal(t, []string{"product.state", "product.translations", "product.availability", "product.prices"}, s.audit(id))

	t.Run("the record is what putting the gift again would send", func(t *testing.T) {
		r := s.record(id)
		require.True(t, r.GetPublishedOnce())
		require.Equal(t, "7.50", r.GetProduct().GetPrices()[0].GetAmountEur())
		require.Equal(t, r.GetUpdatedAt().AsTime(), s.put(r.GetProduct()), "nothing changed")
		require.True(t, proto.Equal(r, s.record(id)))
	})
	t.Run("what changes nothing moves and records nothing", func(t *testing.T) {
		same, err := s.products.SetProductAvailability(ctx, &catalogv1.SetProductAvailabilityRequest{
			ProductId: id, Actor: staff(), AvailableCountries: []string{"FI", "SE", "FI"},
		})
		require.NoError(t, err)
		require.Equal(t, published.GetUpdatedAt().AsTime(), same.GetUpdatedAt().AsTime())
		require.Len(t, s.audit(id), 4)
	})
	t.Run("archiving suspends the gift in its campaigns and unlists it", func(t *testing.T) {
		c := s.campaignIn(catalogv1.CampaignStatus_CAMPAIGN_STATUS_ACTIVE, nil, offering(id, onDemand, nil, "S"))
		left, err := s.products.SetProductState(ctx, &catalogv1.SetProductStateRequest{ProductId: id, Actor: staff(), State: archived})
		require.NoError(t, err)
		require.Equal(t, catalogv1.OfferingStatus_OFFERING_STATUS_NEEDS_REVIEW, s.readCampaign(c).GetOfferings()[0].GetStatus())
		entries := s.changedSince(left.GetUpdatedAt().AsTime())
		require.Len(t, entries, 1)
		require.Equal(t, id, entries[0].GetUnlisted().GetId())
	})
	t.Run("regions and rates are listed", func(t *testing.T) {
		regions, err := s.products.ListRegions(ctx, &catalogv1.ListRegionsRequest{})
		require.NoError(t, err)
		require.Len(t, regions.GetRegions(), 1)
		require.Equal(t, []string{"SE"}, regions.GetRegions()[0].GetCountries())
		rates, err := s.products.ListExchangeRates(ctx, &catalogv1.ListExchangeRatesRequest{})
		require.NoError(t, err)
		require.Equal(t, "NOK", rates.GetRates()[0].GetCurrency())
		require.Equal(t, "11.5", rates.GetRates()[0].GetRate())
	})
}

func TestListsOfProductRecords(t *testing.T) {
	s := setup(t)
	states := []catalogv1.ProductState{draft, archived, internal, catalogv1.ProductState_PRODUCT_STATE_PUBLISHED}
	byState := map[catalogv1.ProductState]int{}
	for i := range 10 {
		s.put(gift(withState(states[i%4])))
		byState[states[i%4]]++
	}
	list := func(req *catalogv1.ListProductRecordsRequest) (found []*catalogv1.ProductRecord) {
		for {
			got, err := s.products.ListProductRecords(t.Context(), req)
			require.NoError(t, err)
			found = append(found, got.GetRecords()...)
			if got.NextCursor == nil {
				return found
			}
			req.After = got.NextCursor
		}
	}
	for _, n := range []int32{1, 3, 100} {
		seen := map[string]bool{}
		for _, r := range list(&catalogv1.ListProductRecordsRequest{Limit: limit(n)}) {
			seen[r.GetProduct().GetId()] = true
		}
		require.Len(t, seen, 10)
	}
	for state, want := range byState {
		found := list(&catalogv1.ListProductRecordsRequest{State: state, Limit: limit(1)})
		require.Len(t, found, want)
		for _, r := range found {
			require.Equal(t, state, r.GetProduct().GetState())
		}
	}
}

func TestFaultyProductOperations(t *testing.T) {
	s := setup(t)
	p := gift()
	s.put(p)
	ctx, id := t.Context(), p.GetId()
	nobody := map[string]string{"productId": "required", "actor": "required"}
	with := func(more map[string]string) map[string]string {
		for field, code := range nobody {
			more[field] = code
		}
		return more
	}
	for name, tc := range map[string]struct {
		call func() error
		want map[string]string
	}{
		"a state": {
			func() error {
				_, err := s.products.SetProductState(ctx, &catalogv1.SetProductStateRequest{})
				return err
			},
			with(map[string]string{"state": "required"}),
		},
		"prices": {
			func() error {
				_, err := s.products.SetProductPrices(ctx, &catalogv1.SetProductPricesRequest{
					Prices: []*catalogv1.RegionPrice{{Region: "nordics", AmountEur: "-1"}},
				})
				return err
			},
			with(map[string]string{"prices[0].region": "invalid", "prices[0].amountEur": "invalid"}),
		},
		"a price of no region": {
			func() error {
				_, err := s.products.SetProductPrices(ctx, &catalogv1.SetProductPricesRequest{
					ProductId: id, Actor: staff(), Prices: []*catalogv1.RegionPrice{{Region: "NOWHERE", AmountEur: "1"}},
				})
				return err
			},
			map[string]string{"prices[0].region": "invalid"},
		},
		"countries": {
			func() error {
				_, err := s.products.SetProductAvailability(ctx, &catalogv1.SetProductAvailabilityRequest{AvailableCountries: []string{"SE", "XX"}})
				return err
			},
			with(map[string]string{"availableCountries[1]": "invalid"}),
		},
		"translations": {
			func() error {
				_, err := s.products.SetProductTranslations(ctx, &catalogv1.SetProductTranslationsRequest{
					Translations: []*catalogv1.ProductTranslation{{Locale: "en-US", Name: " "}},
				})
				return err
			},
			with(map[string]string{"translations[0].locale": "invalid", "translations[0].name": "required"}),
		},
		"an actor without kind": {
			func() error {
				_, err := s.products.SetProductState(ctx, &catalogv1.SetProductStateRequest{ProductId: id, State: draft, Actor: &commonv1.Actor{Id: "x"}})
				return err
			},
			map[string]string{"actor.kind": "required"},
		},
		"an actor named by an e-mail address": {
			func() error {
				_, err := s.products.SetProductState(ctx, &catalogv1.SetProductStateRequest{ProductId: id, State: draft, Actor: &commonv1.Actor{
					Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: "ann@example.com",
				}})
				return err
			},
			map[string]string{"actor.id": "invalid"},
		},
		"a platform that has an id": {
			func() error {
				_, err := s.products.SetProductState(ctx, &catalogv1.SetProductStateRequest{ProductId: id, State: draft, Actor: &commonv1.Actor{
					Kind: commonv1.ActorKind_ACTOR_KIND_SYSTEM, Id: "x",
				}})
				return err
			},
			map[string]string{"actor.id": "invalid"},
		},
		"a list": {
			func() error {
				_, err := s.products.ListProductRecords(ctx, &catalogv1.ListProductRecordsRequest{State: 99, Limit: limit(0), After: text("?")})
				return err
			},
			map[string]string{"state": "invalid", "limit": "invalid", "after": "invalid"},
		},
		"an audit": {
			func() error {
				_, err := s.products.ListAudit(ctx, &catalogv1.ListAuditRequest{SubjectId: "x"})
				return err
			},
			map[string]string{"subjectId": "invalid"},
		},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, tc.want, violations(t, tc.call())) })
	}
	t.Run("an unknown gift", func(t *testing.T) {
		_, err := s.products.SetProductState(ctx, &catalogv1.SetProductStateRequest{ProductId: uuid.NewString(), State: draft, Actor: staff()})
		require.True(t, problem.Is(err, problem.NotFound), "%v", err)
		_, err = s.products.GetProductRecord(ctx, &catalogv1.GetProductRecordRequest{ProductId: "none"})
		require.True(t, problem.Is(err, problem.NotFound), "%v", err)
	})
}
