package server_test

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// skuID is the id of a size of the first offering.
func (f *fixture) skuID(campaignID, size string) string {
	f.t.Helper()
	for _, sku := range f.readCampaign(campaignID).GetOfferings()[0].GetSkus() {
		if sku.GetVariations()["Size"] == size {
			return sku.GetId()
		}
	}
	require.Fail(f.t, "no such size")
	return ""
}

// correction is a new correction of the size S.
func (f *fixture) correction(campaignID string) *catalogv1.CorrectStockRequest {
	return &catalogv1.CorrectStockRequest{
		CorrectionId: uuid.NewString(), TenantId: tenantID, CampaignId: campaignID, SkuId: f.skuID(campaignID, "S"),
		Reason: "counted", Actor: staff(),
	}
}

func add(c *catalogv1.CorrectStockRequest, units int32) *catalogv1.CorrectStockRequest {
	c.Change = &catalogv1.CorrectStockRequest_Add{Add: units}
	return c
}

func recount(c *catalogv1.CorrectStockRequest, expected, stock int32) *catalogv1.CorrectStockRequest {
	c.Change = &catalogv1.CorrectStockRequest_Recount{Recount: &catalogv1.Recount{Expected: expected, Stock: stock}}
	return c
}

func TestStockIsCorrected(t *testing.T) {
	t.Parallel()
	f := setup(t)
	c, _ := f.campaignWithStock(10)
	correct := func(req *catalogv1.CorrectStockRequest) int32 {
		t.Helper()
		got := call(f, f.campaigns.CorrectStock, req)
		require.Equal(t, got.GetStockRemaining(), *f.stock(c, "S"))
		return got.GetStockRemaining()
	}
	require.EqualValues(t, 13, correct(add(f.correction(c), 3)))
	require.EqualValues(t, 11, correct(add(f.correction(c), -2)))
	require.EqualValues(t, 4, correct(recount(f.correction(c), 11, 4)))
	require.EqualValues(t, 0, correct(recount(f.correction(c), 4, 0)))
	require.EqualValues(t, 5, correct(add(f.correction(c), 5)))
	require.EqualValues(t, 10, *f.stock(c, "M"), "only of that size")
	t.Run("each is in the audit with the stock before and after", func(t *testing.T) {
		got := call(f, f.products.ListAudit, &catalogv1.ListAuditRequest{SubjectId: c})
		require.Len(t, got.GetEntries(), 5)
		require.Equal(t, "stock.correct", got.GetEntries()[1].GetAction())
		require.JSONEq(t, `{"skuId": "`+f.skuID(c, "S")+`", "expected": 4, "reason": "counted", "before": 4, "after": 0}`,
			got.GetEntries()[1].GetDetail())
		for _, sql := range []string{"DELETE FROM catalog_audit", "UPDATE catalog_audit SET actor_id = 'x'", "TRUNCATE catalog_audit"} {
			_, err := f.db.Exec(t.Context(), sql)
			require.ErrorContains(t, err, "append-only", sql)
		}
	})
	t.Run("never below zero", func(t *testing.T) {
		require.Equal(t, codes{"add": "invalid"}, violations(f, f.campaigns.CorrectStock, add(f.correction(c), -6)))
		require.EqualValues(t, 5, *f.stock(c, "S"))
	})
	t.Run("a recount of stock that has changed since is refused", func(t *testing.T) {
		refused(f, problem.VersionConflict, f.campaigns.CorrectStock, recount(f.correction(c), 6, 7))
		require.EqualValues(t, 5, *f.stock(c, "S"))
	})
	t.Run("a repetition returns the first response", func(t *testing.T) {
		req := add(f.correction(c), 2)
		require.EqualValues(t, 7, correct(req))
		correct(add(f.correction(c), 1))
		again := call(f, f.campaigns.CorrectStock, req)
		require.EqualValues(t, 7, again.GetStockRemaining())
		require.EqualValues(t, 8, *f.stock(c, "S"))
		other := add(proto.CloneOf(req), 3)
		for _, reused := range []*catalogv1.CorrectStockRequest{other, recount(proto.CloneOf(req), 8, 1)} {
			refused(f, problem.IdempotencyKeyReused, f.campaigns.CorrectStock, reused)
		}
		other.SkuId = f.skuID(c, "M")
		refused(f, problem.IdempotencyKeyReused, f.campaigns.CorrectStock, other)
	})
}

func TestInvalidCorrections(t *testing.T) {
	t.Parallel()
	f := setup(t)
	c, p := f.campaignWithStock(10)
	onDemandCampaign := f.campaignIn(running, nil, offering(p, onDemand, nil, "S"))
	testInvalid(f, f.campaigns.CorrectStock, map[string]invalidRequest[*catalogv1.CorrectStockRequest]{
		"an empty request": {&catalogv1.CorrectStockRequest{}, codes{
			"correctionId": "required", "tenantId": "invalid", "campaignId": "invalid", "skuId": "invalid",
			"add": "required", "reason": "required", "actor": "required",
		}},
		"no units":                {add(f.correction(c), 0), codes{"add": "invalid"}},
		"more units than can be":  {add(f.correction(c), 1_000_000_000), codes{"add": "invalid"}},
		"less than nothing":       {recount(f.correction(c), -1, -1), codes{"recount.expected": "invalid", "recount.stock": "invalid"}},
		"a SKU without any stock": {add(f.correction(onDemandCampaign), 1), codes{"skuId": "invalid"}},
	})
	t.Run("a SKU of another campaign or tenant", func(*testing.T) {
		req := add(f.correction(c), 1)
		req.CampaignId = onDemandCampaign
		refused(f, problem.NotFound, f.campaigns.CorrectStock, req)
		req.CampaignId, req.TenantId = c, otherTenantID
		refused(f, problem.NotFound, f.campaigns.CorrectStock, req)
	})
}

func TestCorrectionsDuringOrdersNeitherLoseNorMakeUnits(t *testing.T) {
	t.Parallel()
	const workers, steps, units = 6, 40, 50
	f := setup(t)
	c, p := f.campaignWithStock(units)
	var corrected atomic.Int32
	var group errgroup.Group
	base := f.correction(c)
	for w := range workers {
		random := rand.New(rand.NewPCG(5, uint64(w)))
		group.Go(func() error {
			for range steps {
				if random.IntN(2) == 0 {
					if _, err := f.ordering.Reserve(t.Context(), attempt(c, p, "S")); err != nil && !problem.Is(err, problem.OutOfStock) {
						return err
					}
					continue
				}
				by := random.Int32N(9) - 4
				req := add(proto.CloneOf(base), by)
				req.CorrectionId = uuid.NewString()
				_, err := f.campaigns.CorrectStock(t.Context(), req)
				switch {
				case err == nil:
					corrected.Add(by)
				case !problem.Is(err, problem.InvalidRequest): // The stock would be below zero, or the correction is zero.
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	held := pgtest.Value[int32](t, f.db, `SELECT count(*) FROM reservations WHERE state = 'RESERVED'`)
	require.Equal(t, units+corrected.Load(), held+*f.stock(c, "S"))
}

func TestConcurrentRepetitionsOfACorrectionMakeItOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	c, _ := f.campaignWithStock(10)
	req := add(f.correction(c), 4)
	var group errgroup.Group
	for range 12 {
		group.Go(func() error {
			got, err := f.campaigns.CorrectStock(t.Context(), req)
			if err == nil && got.GetStockRemaining() != 14 {
				t.Errorf("got %d", got.GetStockRemaining())
			}
			return err
		})
	}
	require.NoError(t, group.Wait())
	require.EqualValues(t, 14, *f.stock(c, "S"))
}
