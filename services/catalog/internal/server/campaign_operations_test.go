package server_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

func TestTheLifecycleOfACampaign(t *testing.T) {
	t.Parallel()
	f := setup(t)
	start := func(tenantID, id string) *catalogv1.StartCampaignRequest {
		return &catalogv1.StartCampaignRequest{TenantId: tenantID, CampaignId: id, Actor: staff()}
	}
	id := f.campaignIn(inPreparation, nil)
	for range 2 {
		call(f, f.campaigns.StartCampaign, start(tenantID, id))
		require.Equal(t, running, f.readCampaign(id).GetStatus())
	}
	for range 2 {
		call(f, f.campaigns.CompleteCampaign, &catalogv1.CompleteCampaignRequest{TenantId: tenantID, CampaignId: id, Actor: staff()})
		require.Equal(t, completed, f.readCampaign(id).GetStatus())
	}
	require.Equal(t, []string{"campaign.complete", "campaign.start"}, f.audit(id), "a call without changes is not recorded")
	t.Run("a completed campaign is not started again", func(t *testing.T) {
		_, err := f.campaigns.StartCampaign(t.Context(), start(tenantID, id))
		require.True(t, problem.Is(err, problem.NotEditable), "%v", err)
		p, _ := problem.As(err)
		require.Equal(t, "COMPLETED", p.CurrentStatus)
	})
	t.Run("a campaign whose expiry has passed is not started", func(*testing.T) {
		past := time.Now().Add(-time.Minute)
		due := start(tenantID, f.campaignIn(inPreparation, &past))
		refused(f, problem.NotEditable, f.campaigns.StartCampaign, due)
	})
}

func TestOfferingsArePutOneByOne(t *testing.T) {
	t.Parallel()
	f := setup(t)
	a, b, c := gift(), gift(), gift()
	for _, p := range []*catalogv1.PutProductRequest{a, b, c} {
		f.put(p)
	}
	id := f.campaignIn(running, nil, offering(a.GetId(), stocked, limit(5), "S", "M"), offering(b.GetId(), onDemand, nil, "S"))
	put := func(o *catalogv1.OfferingInput) *catalogv1.PutOfferingRequest {
		return &catalogv1.PutOfferingRequest{TenantId: tenantID, CampaignId: id, Offering: o, Actor: staff()}
	}
	order := func() (ids []string) {
		for _, o := range f.readCampaign(id).GetOfferings() {
			ids = append(ids, o.GetProductId())
		}
		return ids
	}
	t.Run("a new one comes after the others", func(t *testing.T) {
		call(f, f.campaigns.PutOffering, put(offering(c.GetId(), stocked, limit(2), "M")))
		require.Equal(t, []string{a.GetId(), b.GetId(), c.GetId()}, order())
		require.JSONEq(t, `{"productId": "`+c.GetId()+`", "supplyType": "STOCKED",
  "skus": [{"variations": {"Size": "M"}, "initialStock": 2}]}`, f.lastDetail(id))
	})
	t.Run("a replaced one keeps its place and its stock", func(t *testing.T) {
		call(f, f.campaigns.PutOffering, put(offering(a.GetId(), stocked, limit(100), "M")))
		require.Equal(t, []string{a.GetId(), b.GetId(), c.GetId()}, order())
		skus := f.readCampaign(id).GetOfferings()[0].GetSkus()
		require.Len(t, skus, 1)
		require.EqualValues(t, 5, skus[0].GetStockRemaining())
	})
	t.Run("one that is removed and put again has its stock", func(t *testing.T) {
		remove := &catalogv1.RemoveOfferingRequest{TenantId: tenantID, CampaignId: id, ProductId: a.GetId(), Actor: staff()}
		call(f, f.campaigns.RemoveOffering, remove)
		refused(f, problem.NotFound, f.campaigns.RemoveOffering, remove)
		require.Equal(t, []string{b.GetId(), c.GetId()}, order())
		refused(f, problem.ProductNotInCampaign, f.ordering.Reserve, attempt(id, a.GetId(), "M"))
		call(f, f.campaigns.PutOffering, put(offering(a.GetId(), stocked, limit(100), "S", "M")))
		require.Equal(t, []string{b.GetId(), c.GetId(), a.GetId()}, order())
		for _, sku := range f.readCampaign(id).GetOfferings()[2].GetSkus() {
			require.EqualValues(t, 5, sku.GetStockRemaining())
		}
	})
	t.Run("the record has names, stock and status", func(t *testing.T) {
		got := call(f, f.campaigns.GetCampaignRecord, &catalogv1.GetCampaignRecordRequest{TenantId: tenantID, CampaignId: id})
		r := got.GetRecord()
		require.Equal(t, running, r.GetStatus())
		require.Len(t, r.GetOfferings(), 3)
		require.Equal(t, "Wool blanket", r.GetOfferings()[0].GetProductName())
		require.True(t, r.GetOfferings()[0].GetProductPublished())
		require.EqualValues(t, 2, r.GetOfferings()[1].GetSkus()[0].GetStockRemaining())
	})
}

func TestResumingEndsTheReviewOfAnOffering(t *testing.T) {
	t.Parallel()
	f := setup(t)
	p := gift()
	f.put(p)
	id := f.campaignIn(running, nil, offering(p.GetId(), onDemand, nil, "S"))
	resume := func(id, productID string) *catalogv1.ResumeOfferingRequest {
		return &catalogv1.ResumeOfferingRequest{TenantId: tenantID, CampaignId: id, ProductId: productID, Actor: staff()}
	}
	good := resume(id, p.GetId())
	status := func() catalogv1.OfferingStatus { return f.readCampaign(id).GetOfferings()[0].GetStatus() }
	call(f, f.campaigns.ResumeOffering, good)
	require.Empty(t, f.audit(id), "nothing has changed")

	p.State = archived
	f.put(p)
	require.Equal(t, needsReview, status())
	require.Equal(t, codes{"productId": "invalid"}, violations(f, f.campaigns.ResumeOffering, good), "the gift is not published")
	p.State, p.Variations[0].Values = published, []string{"M"}
	f.put(p)
	require.Equal(t, codes{"productId": "invalid"}, violations(f, f.campaigns.ResumeOffering, good),
		"the gift does not have the offered size any more")
	p.Variations[0].Values = []string{"S"}
	f.put(p)
	require.Equal(t, needsReview, status(), "it was not reviewed")
	call(f, f.campaigns.ResumeOffering, good)
	require.Equal(t, offered, status())
	require.Equal(t, []string{"offering.resume"}, f.audit(id))
	refused(f, problem.NotFound, f.campaigns.ResumeOffering, resume(id, uuid.NewString()))
	refused(f, problem.NotFound, f.campaigns.ResumeOffering, resume(uuid.NewString(), p.GetId()))
}

func TestListsOfCampaignRecords(t *testing.T) {
	t.Parallel()
	f := setup(t)
	var all []string
	for range 5 {
		all = append([]string{f.campaignIn(running, nil)}, all...)
	}
	past := time.Now().Add(-time.Minute)
	expired := f.campaignIn(running, &past)
	req := &catalogv1.ListCampaignRecordsRequest{TenantId: tenantID, Status: running, Limit: limit(2)}
	var found []string
	for _, r := range pages(t, 2, func(after *string) ([]*catalogv1.CampaignRecord, *string) {
		req.After = after
		page := call(f, f.campaigns.ListCampaignRecords, req)
		return page.GetRecords(), page.NextCursor
	}) {
		require.Equal(t, tenantID, r.GetTenantId())
		found = append(found, r.GetId())
	}
	require.Equal(t, all, found)
	got := call(f, f.campaigns.ListCampaignRecords, &catalogv1.ListCampaignRecordsRequest{TenantId: tenantID, Status: completed})
	require.Equal(t, expired, got.GetRecords()[0].GetId())
	require.Equal(t, codes{"tenantId": "invalid", "status": "invalid", "brandId": "invalid", "limit": "invalid"},
		violations(f, f.campaigns.ListCampaignRecords,
			&catalogv1.ListCampaignRecordsRequest{Status: 99, BrandId: text("x"), Limit: limit(101)}))
}

func TestPuttingACampaignKeepsTheStockOfExistingSKUs(t *testing.T) {
	t.Parallel()
	f := setup(t)
	p := gift()
	f.put(p)
	c := campaign(offering(p.GetId(), stocked, limit(5), "S", "M"))
	f.putCampaign(c)
	r := attempt(c.GetId(), p.GetId(), "S")
	call(f, f.ordering.Reserve, r)
	t.Run("when the campaign is put again", func(t *testing.T) {
		c.Offerings = []*catalogv1.OfferingInput{offering(p.GetId(), stocked, limit(100), "S", "M")}
		f.putCampaign(c)
		require.EqualValues(t, 4, *f.stock(c.GetId(), "S"))
		require.EqualValues(t, 5, *f.stock(c.GetId(), "M"))
	})
	t.Run("after a time without the offering, in which a unit was returned", func(t *testing.T) {
		c.Offerings = []*catalogv1.OfferingInput{offering(p.GetId(), stocked, limit(100), "M")}
		f.putCampaign(c)
		f.confirmAndRelease(nil, []string{r.GetOrderId()})
		c.Offerings = []*catalogv1.OfferingInput{offering(p.GetId(), stocked, limit(100), "S", "M")}
		f.putCampaign(c)
		require.EqualValues(t, 5, *f.stock(c.GetId(), "S"))
	})
	t.Run("after a time on demand", func(t *testing.T) {
		c.Offerings = []*catalogv1.OfferingInput{offering(p.GetId(), onDemand, nil, "S", "M")}
		f.putCampaign(c)
		c.Offerings = []*catalogv1.OfferingInput{offering(p.GetId(), stocked, limit(100), "S", "M")}
		f.putCampaign(c)
		require.EqualValues(t, 5, *f.stock(c.GetId(), "S"))
	})
	t.Run("a SKU that never had stock gets it when it becomes stocked", func(t *testing.T) {
		other := campaign(offering(p.GetId(), onDemand, nil, "S"))
		f.putCampaign(other)
		require.Nil(t, f.stock(other.GetId(), "S"))
		other.Offerings = []*catalogv1.OfferingInput{offering(p.GetId(), stocked, limit(3), "S")}
		f.putCampaign(other)
		require.EqualValues(t, 3, *f.stock(other.GetId(), "S"))
	})
}

func TestInvalidCampaigns(t *testing.T) {
	t.Parallel()
	f := setup(t)
	p := gift()
	f.put(p)
	good := campaign(offering(p.GetId(), stocked, limit(1), "S"))
	for name, tc := range map[string]struct {
		change func(c *catalogv1.PutCampaignRequest)
		want   codes
	}{
		"an empty request": {
			func(c *catalogv1.PutCampaignRequest) { proto.Reset(c) },
			codes{"id": "required", "tenantId": "required", "brandId": "required", "name": "required", "status": "required"},
		},
		"an unknown tenant": {
			func(c *catalogv1.PutCampaignRequest) { c.TenantId = uuid.NewString() },
			codes{"tenantId": "invalid"},
		},
		"a brand of another tenant": {
			func(c *catalogv1.PutCampaignRequest) { c.BrandId = uuid.NewString() },
			codes{"brandId": "invalid"},
		},
		"an unknown gift": {
			func(c *catalogv1.PutCampaignRequest) { c.Offerings[0].ProductId = uuid.NewString() },
			codes{"offerings[0].productId": "invalid"},
		},
		"a gift twice": {
			func(c *catalogv1.PutCampaignRequest) { c.Offerings = append(c.GetOfferings(), c.GetOfferings()[0]) },
			codes{"offerings[1].productId": "duplicate"},
		},
		"a combination that the gift does not have": {
			func(c *catalogv1.PutCampaignRequest) {
				c.Offerings[0] = offering(p.GetId(), stocked, limit(1), "S", "XXL")
				c.Offerings[0].Skus = append(c.Offerings[0].Skus, &catalogv1.SkuInput{})
			},
			codes{"offerings[0].skus[1].variations": "invalid", "offerings[0].skus[2].variations": "invalid"},
		},
		"the same combination twice": {
			func(c *catalogv1.PutCampaignRequest) {
				c.Offerings[0] = offering(p.GetId(), stocked, limit(1), "S", "S")
			},
			codes{"offerings[0].skus[1].variations": "duplicate"},
		},
		"invalid stock": {
			func(c *catalogv1.PutCampaignRequest) {
				c.Offerings[0] = offering(p.GetId(), stocked, limit(-1), "S")
				c.Offerings = append(c.Offerings, offering(uuid.NewString(), onDemand, limit(1), "S"))
			},
			codes{"offerings[0].skus[0].initialStock": "invalid", "offerings[1].skus[0].initialStock": "invalid"},
		},
		"an offering without SKUs": {
			func(c *catalogv1.PutCampaignRequest) { c.Offerings[0].Skus, c.Offerings[0].SupplyType = nil, 0 },
			codes{"offerings[0].skus": "required", "offerings[0].supplyType": "required"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := proto.CloneOf(good)
			tc.change(c)
			require.Equal(t, tc.want, violations(f, f.ops.PutCampaign, c))
		})
	}
}

func TestCampaignsAreOfOneTenant(t *testing.T) {
	t.Parallel()
	f := setup(t)
	id, product := f.campaignWithStock(5)
	before, audited := f.readCampaign(id), f.audit(id)
	correction := add(f.correction(id), 1)
	correction.TenantId = otherTenantID
	refused(f, problem.NotFound, f.campaigns.CorrectStock, correction)
	refused(f, problem.NotFound, f.campaigns.GetCampaignRecord,
		&catalogv1.GetCampaignRecordRequest{TenantId: otherTenantID, CampaignId: id})
	refused(f, problem.NotFound, f.campaigns.StartCampaign,
		&catalogv1.StartCampaignRequest{TenantId: otherTenantID, CampaignId: id, Actor: staff()})
	refused(f, problem.NotFound, f.campaigns.CompleteCampaign,
		&catalogv1.CompleteCampaignRequest{TenantId: otherTenantID, CampaignId: id, Actor: staff()})
	refused(f, problem.NotFound, f.campaigns.PutOffering, &catalogv1.PutOfferingRequest{
		TenantId: otherTenantID, CampaignId: id, Offering: offering(product, onDemand, nil, "S"), Actor: staff(),
	})
	refused(f, problem.NotFound, f.campaigns.RemoveOffering,
		&catalogv1.RemoveOfferingRequest{TenantId: otherTenantID, CampaignId: id, ProductId: product, Actor: staff()})
	refused(f, problem.NotFound, f.campaigns.ResumeOffering,
		&catalogv1.ResumeOfferingRequest{TenantId: otherTenantID, CampaignId: id, ProductId: product, Actor: staff()})
	refused(f, problem.NotFound, f.campaigns.SetCampaignGreetings,
		&catalogv1.SetCampaignGreetingsRequest{TenantId: otherTenantID, CampaignId: id, Actor: staff()})
	t.Run("another tenant lists none", func(t *testing.T) {
		resp, err := f.campaigns.ListCampaignRecords(t.Context(), &catalogv1.ListCampaignRecordsRequest{TenantId: otherTenantID})
		require.NoError(t, err)
		for _, record := range resp.GetRecords() {
			require.NotEqual(t, id, record.GetId())
		}
	})
	t.Run("a cursor of one tenant is not one of another", func(t *testing.T) {
		f.campaignWithStock(1)
		page := call(f, f.campaigns.ListCampaignRecords, &catalogv1.ListCampaignRecordsRequest{TenantId: tenantID, Limit: proto.Int32(1)})
		require.NotNil(t, page.NextCursor)
		foreign := &catalogv1.ListCampaignRecordsRequest{TenantId: otherTenantID, Limit: proto.Int32(1), After: page.NextCursor}
		require.Equal(t, codes{"after": "invalid"}, violations(f, f.campaigns.ListCampaignRecords, foreign))
	})
	require.True(t, proto.Equal(before, f.readCampaign(id)))
	require.Equal(t, audited, f.audit(id))
}
