package catalog_test

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/problem"
	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// skuID is the id of a size of the first offering.
func (s *stack) skuID(campaignID, size string) string {
	s.t.Helper()
	for _, sku := range s.readCampaign(campaignID).GetOfferings()[0].GetSkus() {
		if sku.GetVariations()["Size"] == size {
			return sku.GetId()
		}
	}
	require.Fail(s.t, "no such size")
	return ""
}

// correction is a new correction of the size S.
func (s *stack) correction(campaignID string) *catalogv1.CorrectStockRequest {
	return &catalogv1.CorrectStockRequest{
		CorrectionId: uuid.NewString(), TenantId: tenantID, CampaignId: campaignID, SkuId: s.skuID(campaignID, "S"),
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
	s, c, _ := shop(t, 10)
	correct := func(req *catalogv1.CorrectStockRequest) int32 {
		t.Helper()
		got, err := s.campaigns.CorrectStock(t.Context(), req)
		require.NoError(t, err)
		require.Equal(t, got.GetStockRemaining(), *s.stock(c, "S"))
		return got.GetStockRemaining()
	}
	require.EqualValues(t, 13, correct(add(s.correction(c), 3)))
	require.EqualValues(t, 11, correct(add(s.correction(c), -2)))
	require.EqualValues(t, 4, correct(recount(s.correction(c), 11, 4)))
	require.EqualValues(t, 0, correct(recount(s.correction(c), 4, 0)))
	require.EqualValues(t, 5, correct(add(s.correction(c), 5)))
	require.EqualValues(t, 10, *s.stock(c, "M"), "of that size alone")

	t.Run("each is in the audit with what was there before and after", func(t *testing.T) {
		got, err := s.products.ListAudit(t.Context(), &catalogv1.ListAuditRequest{SubjectId: c})
		require.NoError(t, err)
		require.Len(t, got.GetEntries(), 5)
		require.Equal(t, "stock.correct", got.GetEntries()[1].GetAction())
		require.JSONEq(t, `{"skuId": "`+s.skuID(c, "S")+`", "expected": 4, "reason": "counted", "before": 4, "after": 0}`,
			got.GetEntries()[1].GetDetail())
		_, err = s.db.Exec(t.Context(), `DELETE FROM catalog_audit`)
		require.Error(t, err, "and stays there")
	})
	t.Run("never below zero", func(t *testing.T) {
		_, err := s.campaigns.CorrectStock(t.Context(), add(s.correction(c), -6))
		require.Equal(t, map[string]string{"add": "invalid"}, violations(t, err))
		require.EqualValues(t, 5, *s.stock(c, "S"))
	})
	t.Run("a recount of stock that has changed since is refused", func(t *testing.T) {
		_, err := s.campaigns.CorrectStock(t.Context(), recount(s.correction(c), 6, 7))
		require.True(t, problem.Is(err, problem.VersionConflict), "%v", err)
		require.EqualValues(t, 5, *s.stock(c, "S"))
	})
	t.Run("repeated it gives the first answer", func(t *testing.T) {
		req := add(s.correction(c), 2)
		require.EqualValues(t, 7, correct(req))
		correct(add(s.correction(c), 1))
		again, err := s.campaigns.CorrectStock(t.Context(), req)
		require.NoError(t, err)
		require.EqualValues(t, 7, again.GetStockRemaining())
		require.EqualValues(t, 8, *s.stock(c, "S"))
		other := add(proto.CloneOf(req), 3)
		for _, reused := range []*catalogv1.CorrectStockRequest{other, recount(proto.CloneOf(req), 8, 1)} {
			_, err = s.campaigns.CorrectStock(t.Context(), reused)
			require.True(t, problem.Is(err, problem.IdempotencyKeyReused), "%v", err)
		}
		other.SkuId = s.skuID(c, "M")
		_, err = s.campaigns.CorrectStock(t.Context(), other)
		require.True(t, problem.Is(err, problem.IdempotencyKeyReused), "%v", err)
	})
}

func TestFaultyCorrections(t *testing.T) {
	s, c, p := shop(t, 10)
	onDemandCampaign := s.campaignIn(running, nil, offering(p, onDemand, nil, "S"))
	for name, tc := range map[string]struct {
		req  *catalogv1.CorrectStockRequest
		want map[string]string
	}{
		"nothing in it": {&catalogv1.CorrectStockRequest{}, map[string]string{
			"correctionId": "required", "tenantId": "invalid", "campaignId": "invalid", "skuId": "invalid",
			"add": "required", "reason": "required", "actor": "required",
		}},
		"no units":                {add(s.correction(c), 0), map[string]string{"add": "invalid"}},
		"more units than can be":  {add(s.correction(c), 1_000_000_000), map[string]string{"add": "invalid"}},
		"less than nothing":       {recount(s.correction(c), -1, -1), map[string]string{"recount.expected": "invalid", "recount.stock": "invalid"}},
		"a SKU without any stock": {add(s.correction(onDemandCampaign), 1), map[string]string{"skuId": "invalid"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.campaigns.CorrectStock(t.Context(), tc.req)
			require.Equal(t, tc.want, violations(t, err))
		})
	}
	t.Run("a SKU of another campaign or tenant", func(t *testing.T) {
		req := add(s.correction(c), 1)
		req.CampaignId = onDemandCampaign
		_, err := s.campaigns.CorrectStock(t.Context(), req)
		require.True(t, problem.Is(err, problem.NotFound), "%v", err)
		req.CampaignId, req.TenantId = c, otherTenantID
		_, err = s.campaigns.CorrectStock(t.Context(), req)
		require.True(t, problem.Is(err, problem.NotFound), "%v", err)
	})
}

// Corrections, orders and settlements of one SKU at once: no unit is lost or made.
func TestCorrectionsBesideOrdersAddUp(t *testing.T) {
	const workers, steps, units = 6, 40, 50
	s, c, p := shop(t, units)
	var corrected atomic.Int32
	var group errgroup.Group
	base := s.correction(c)
	for w := range workers {
		random := rand.New(rand.NewPCG(5, uint64(w)))
		group.Go(func() error {
			for range steps {
				if random.IntN(2) == 0 {
					if _, err := s.ordering.Reserve(t.Context(), s.attempt(c, p, "S")); err != nil && !problem.Is(err, problem.OutOfStock) {
						return err
					}
					continue
				}
				by := random.Int32N(9) - 4
				req := add(proto.CloneOf(base), by)
				req.CorrectionId = uuid.NewString()
				_, err := s.campaigns.CorrectStock(t.Context(), req)
				switch {
				case err == nil:
					corrected.Add(by)
				case !problem.Is(err, problem.InvalidRequest): // Below zero, or by nothing.
					return err
				}
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	var held int32
	require.NoError(t, s.db.QueryRow(t.Context(), `SELECT count(*) FROM reservations WHERE state = 'RESERVED'`).Scan(&held))
	require.Equal(t, units+corrected.Load(), held+*s.stock(c, "S"))
}

// One correction sent many times at once is made once.
func TestOneCorrectionAtOnceIsMadeOnce(t *testing.T) {
	s, c, _ := shop(t, 10)
	req := add(s.correction(c), 4)
	var group errgroup.Group
	for range 12 {
		group.Go(func() error {
			got, err := s.campaigns.CorrectStock(t.Context(), req)
			if err == nil && got.GetStockRemaining() != 14 {
				t.Errorf("got %d", got.GetStockRemaining())
			}
			return err
		})
	}
	require.NoError(t, group.Wait())
	require.EqualValues(t, 14, *s.stock(c, "S"))
}
