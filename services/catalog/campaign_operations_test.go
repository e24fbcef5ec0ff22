package catalog_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/telemetry"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
	"github.com/partnergifting/platform/services/catalog/internal/store"
	"github.com/partnergifting/platform/services/catalog/internal/upkeep"
)

const (
	inPreparation = catalogv1.CampaignStatus_CAMPAIGN_STATUS_DRAFT
	running       = catalogv1.CampaignStatus_CAMPAIGN_STATUS_ACTIVE
	completed     = catalogv1.CampaignStatus_CAMPAIGN_STATUS_COMPLETED
)

func (s *stack) start(id string) error {
	_, err := s.campaigns.StartCampaign(s.t.Context(), &catalogv1.StartCampaignRequest{TenantId: tenantID, CampaignId: id, Actor: staff()})
	return err
}

func (s *stack) complete(id string) error {
	_, err := s.campaigns.CompleteCampaign(s.t.Context(), &catalogv1.CompleteCampaignRequest{TenantId: tenantID, CampaignId: id, Actor: staff()})
	return err
}

func (s *stack) resume(id, productID string) error {
	_, err := s.campaigns.ResumeOffering(s.t.Context(),
		&catalogv1.ResumeOfferingRequest{TenantId: tenantID, CampaignId: id, ProductId: productID, Actor: staff()})
	return err
}

func TestTheCourseOfACampaign(t *testing.T) {
	s := setup(t)
	id := s.campaignIn(inPreparation, nil)
	for range 2 {
		require.NoError(t, s.start(id))
		require.Equal(t, running, s.readCampaign(id).GetStatus())
	}
	for range 2 {
		require.NoError(t, s.complete(id))
		require.Equal(t, completed, s.readCampaign(id).GetStatus())
	}
	require.Equal(t, []string{"campaign.complete", "campaign.start"}, s.audit(id), "what changes nothing is not recorded")

	t.Run("a completed one is not started again", func(t *testing.T) {
		err := s.start(id)
		require.True(t, problem.Is(err, problem.NotEditable), "%v", err)
		p, _ := problem.As(err)
		require.Equal(t, "COMPLETED", p.CurrentStatus)
	})
	t.Run("one whose expiry has passed is not started", func(t *testing.T) {
		past := time.Now().Add(-time.Minute)
		due := s.campaignIn(inPreparation, &past)
		require.Equal(t, map[string]string{"campaignId": "invalid"}, violations(t, s.start(due)))
	})
	t.Run("one of another tenant does not exist", func(t *testing.T) {
		_, err := s.campaigns.StartCampaign(t.Context(), &catalogv1.StartCampaignRequest{TenantId: uuid.NewString(), CampaignId: id, Actor: staff()})
		require.True(t, problem.Is(err, problem.NotFound), "%v", err)
		_, err = s.campaigns.GetCampaignRecord(t.Context(), &catalogv1.GetCampaignRecordRequest{TenantId: uuid.NewString(), CampaignId: id})
		require.True(t, problem.Is(err, problem.NotFound), "%v", err)
	})
}

// What has completed on its own stays completed when its expiry is moved later on.
func TestAnExpiryIsWrittenDown(t *testing.T) {
	s := setup(t)
	past := time.Now().Add(-time.Minute)
	expired, other := s.campaignIn(running, &past), s.campaignIn(running, nil)
	stored := func(id string) (status string) {
		require.NoError(t, s.db.QueryRow(t.Context(), `SELECT status FROM campaigns WHERE id = $1`, id).Scan(&status))
		return status
	}
	require.Equal(t, "ACTIVE", stored(expired))
	require.Equal(t, completed, s.readCampaign(expired).GetStatus())
	worker := &upkeep.Worker{Store: store.New(s.db), Log: telemetry.Discard().Logger}
	require.NoError(t, worker.Sweep(t.Context()))
	require.NoError(t, worker.Sweep(t.Context()))
	require.Equal(t, "COMPLETED", stored(expired))
	require.Equal(t, "ACTIVE", stored(other))
	got, err := s.products.ListAudit(t.Context(), &catalogv1.ListAuditRequest{SubjectId: expired})
	require.NoError(t, err)
	require.Len(t, got.GetEntries(), 1, "once")
	require.Equal(t, "campaign.expire", got.GetEntries()[0].GetAction())
}

func TestOfferingsOneAtATime(t *testing.T) {
	s := setup(t)
	a, b, c := gift(), gift(), gift()
	for _, p := range []*catalogv1.PutProductRequest{a, b, c} {
		s.put(p)
	}
	id := s.campaignIn(running, nil, offering(a.GetId(), stocked, limit(5), "S", "M"), offering(b.GetId(), onDemand, nil, "S"))
	put := func(o *catalogv1.OfferingInput) error {
		_, err := s.campaigns.PutOffering(t.Context(),
			&catalogv1.PutOfferingRequest{TenantId: tenantID, CampaignId: id, Offering: o, Actor: staff()})
		return err
	}
	order := func() (ids []string) {
		for _, o := range s.readCampaign(id).GetOfferings() {
			ids = append(ids, o.GetProductId())
		}
		return ids
	}
	t.Run("a new one stands behind the others", func(t *testing.T) {
		require.NoError(t, put(offering(c.GetId(), stocked, limit(2), "M")))
		require.Equal(t, []string{a.GetId(), b.GetId(), c.GetId()}, order())
	})
	t.Run("a replaced one keeps its place and its stock", func(t *testing.T) {
		require.NoError(t, put(offering(a.GetId(), stocked, limit(100), "M")))
		require.Equal(t, []string{a.GetId(), b.GetId(), c.GetId()}, order())
		skus := s.readCampaign(id).GetOfferings()[0].GetSkus()
		require.Len(t, skus, 1)
		require.EqualValues(t, 5, skus[0].GetStockRemaining())
	})
	t.Run("one that goes and comes back has its stock", func(t *testing.T) {
		remove := func() error {
			_, err := s.campaigns.RemoveOffering(t.Context(),
				&catalogv1.RemoveOfferingRequest{TenantId: tenantID, CampaignId: id, ProductId: a.GetId(), Actor: staff()})
			return err
		}
		require.NoError(t, remove())
		require.True(t, problem.Is(remove(), problem.NotFound))
		require.Equal(t, []string{b.GetId(), c.GetId()}, order())
		_, err := s.ordering.Reserve(t.Context(), s.attempt(id, a.GetId(), "M"))
		require.True(t, problem.Is(err, problem.InvalidVariations), "%v", err)
		require.NoError(t, put(offering(a.GetId(), stocked, limit(100), "S", "M")))
		require.Equal(t, []string{b.GetId(), c.GetId(), a.GetId()}, order())
		for _, sku := range s.readCampaign(id).GetOfferings()[2].GetSkus() {
			require.EqualValues(t, 5, sku.GetStockRemaining())
		}
	})
	t.Run("the record has names, stock and status", func(t *testing.T) {
		got, err := s.campaigns.GetCampaignRecord(t.Context(), &catalogv1.GetCampaignRecordRequest{TenantId: tenantID, CampaignId: id})
		require.NoError(t, err)
		r := got.GetRecord()
		require.Equal(t, running, r.GetStatus())
		require.Len(t, r.GetOfferings(), 3)
		require.Equal(t, "Wool blanket", r.GetOfferings()[0].GetProductName())
		require.True(t, r.GetOfferings()[0].GetProductPublished())
		require.EqualValues(t, 2, r.GetOfferings()[1].GetSkus()[0].GetStockRemaining())
	})
	t.Run("faults are told by field", func(t *testing.T) {
		require.Equal(t, map[string]string{"offering.productId": "invalid"}, violations(t, put(offering(uuid.NewString(), onDemand, nil, "S"))))
		require.Equal(t, map[string]string{"offering.skus[1].variations": "duplicate", "offering.skus[0].initialStock": "invalid"},
			violations(t, put(&catalogv1.OfferingInput{ProductId: a.GetId(), SupplyType: stocked, Skus: []*catalogv1.SkuInput{
				{Variations: map[string]string{"Size": "S"}, InitialStock: limit(-1)}, {Variations: map[string]string{"Size": "S"}},
			}})))
		_, err := s.campaigns.PutOffering(t.Context(), &catalogv1.PutOfferingRequest{})
		require.Equal(t, map[string]string{
			"tenantId": "invalid", "campaignId": "invalid", "actor": "required",
			"offering.productId": "required", "offering.supplyType": "required", "offering.skus": "required",
		}, violations(t, err))
	})
}

func TestAReviewEndsByResuming(t *testing.T) {
	s := setup(t)
	p := gift()
	s.put(p)
	id := s.campaignIn(running, nil, offering(p.GetId(), onDemand, nil, "S"))
	status := func() catalogv1.OfferingStatus { return s.readCampaign(id).GetOfferings()[0].GetStatus() }
	require.NoError(t, s.resume(id, p.GetId()), "there is nothing to end")
	require.Empty(t, s.audit(id))

	p.State = archived
	s.put(p)
	require.Equal(t, catalogv1.OfferingStatus_OFFERING_STATUS_NEEDS_REVIEW, status())
	require.Equal(t, map[string]string{"productId": "invalid"}, violations(t, s.resume(id, p.GetId())), "the gift is not published")
	p.State, p.Variations[0].Values = catalogv1.ProductState_PRODUCT_STATE_PUBLISHED, []string{"M"}
	s.put(p)
	require.Equal(t, map[string]string{"productId": "invalid"}, violations(t, s.resume(id, p.GetId())), "the offered size is gone")
	p.Variations[0].Values = []string{"S"}
	s.put(p)
	require.Equal(t, catalogv1.OfferingStatus_OFFERING_STATUS_NEEDS_REVIEW, status(), "nobody has reviewed it")
	require.NoError(t, s.resume(id, p.GetId()))
	require.Equal(t, catalogv1.OfferingStatus_OFFERING_STATUS_ACTIVE, status())
	require.Equal(t, []string{"offering.resume"}, s.audit(id))
	require.True(t, problem.Is(s.resume(id, uuid.NewString()), problem.NotFound))
	require.True(t, problem.Is(s.resume(uuid.NewString(), p.GetId()), problem.NotFound))
}

func TestListsOfCampaignRecords(t *testing.T) {
	s := setup(t)
	var all []string
	for range 5 {
		all = append([]string{s.campaignIn(running, nil)}, all...)
	}
	past := time.Now().Add(-time.Minute)
	expired := s.campaignIn(running, &past)
	req := &catalogv1.ListCampaignRecordsRequest{TenantId: tenantID, Status: running, Limit: limit(2)}
	var found []string
	for {
		got, err := s.campaigns.ListCampaignRecords(t.Context(), req)
		require.NoError(t, err)
		for _, r := range got.GetRecords() {
			require.Equal(t, tenantID, r.GetTenantId())
			found = append(found, r.GetId())
		}
		if got.NextCursor == nil {
			break
		}
		req.After = got.NextCursor
	}
	require.Equal(t, all, found)
	got, err := s.campaigns.ListCampaignRecords(t.Context(), &catalogv1.ListCampaignRecordsRequest{TenantId: tenantID, Status: completed})
	require.NoError(t, err)
	require.Equal(t, expired, got.GetRecords()[0].GetId())
	_, err = s.campaigns.ListCampaignRecords(t.Context(), &catalogv1.ListCampaignRecordsRequest{Status: 99, BrandId: text("x"), Limit: limit(101)})
	require.Equal(t, map[string]string{"tenantId": "invalid", "status": "invalid", "brandId": "invalid", "limit": "invalid"}, violations(t, err))
}

func TestWhatIsKeptForATimeGoes(t *testing.T) {
	s, c, p := shop(t, 5)
	held, confirmed, released, fresh := s.attempt(c, p, "S"), s.attempt(c, p, "S"), s.attempt(c, p, "S"), s.attempt(c, p, "S")
	for _, r := range []*catalogv1.ReserveRequest{held, confirmed, released, fresh} {
		_, err := s.ordering.Reserve(t.Context(), r)
		require.NoError(t, err)
	}
	s.settle([]string{confirmed.GetOrderId()}, []string{released.GetOrderId(), fresh.GetOrderId()})
	_, err := s.db.Exec(t.Context(), `UPDATE reservations SET expires_at = expires_at - interval '31 days' WHERE order_id <> $1`, fresh.GetOrderId())
	require.NoError(t, err)
	for _, days := range []int{364, 365 * 3, 365*3 + 1} {
		_, err = s.db.Exec(t.Context(), `INSERT INTO catalog_audit (id, at, actor_kind, actor_id, action, subject_id, detail)
VALUES (gen_random_uuid(), clock_timestamp() - make_interval(days => $1), 'BACKOFFICE_ACCOUNT', 'staff-7', 'campaign.start', $2, '{}')`, days, c)
		require.NoError(t, err)
	}
	worker := &upkeep.Worker{Store: store.New(s.db), Audit: 365 * 3 * 24 * time.Hour, Log: telemetry.Discard().Logger}
	require.NoError(t, worker.Sweep(t.Context()))

	var left []string
	require.NoError(t, s.db.QueryRow(t.Context(), `SELECT array_agg(order_id::text) FROM reservations`).Scan(&left))
	require.ElementsMatch(t, []string{held.GetOrderId(), confirmed.GetOrderId(), fresh.GetOrderId()}, left)
	require.Len(t, s.audit(c), 1)

	s.settle([]string{released.GetOrderId()}, []string{released.GetOrderId(), confirmed.GetOrderId()})
	require.EqualValues(t, 4, *s.stock(c, "S"), "the confirmed unit still goes back; the released one did already")
}
