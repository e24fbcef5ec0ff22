package store

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
)

const (
	bigTenant   = "0198f2e4-0000-7000-8000-0000000000f1"
	smallTenant = "0198f2e4-0000-7000-8000-0000000000f2"
	bigBrand    = "0198f2e4-0000-7000-8000-0000000000f3"
	smallBrand  = "0198f2e4-0000-7000-8000-0000000000f4"
	aCampaign   = "0198f2e4-0000-7000-8000-0000000000f5"
	noBrand     = "0198f2e4-0000-7000-8000-0000000000f6"
	doneBrand   = "0198f2e4-0000-7000-8000-0000000000f7"
)

// fill gives one tenant many completed orders of one brand. Its few oldest orders are requested, of another brand and of a
// campaign; that brand and status are common at another tenant. Many of its orders are processed and many are of a third brand,
// but none is both.
const fill = `INSERT INTO orders (tenant_id, id, reference, external_order_id, source, brand_id, campaign_id, status, item_kind,
  product_id, product_name, delivery_country, received_outside_active_hours, details_sealed, created_at, updated_at)
SELECT CASE WHEN big THEN '` + bigTenant + `' ELSE '` + smallTenant + `' END::uuid, gen_random_uuid(), 'R' || i, 'e' || i, 'API',
  CASE WHEN big AND i > 40 AND i % 8 = 1 THEN '` + doneBrand + `' WHEN big AND i > 40 THEN '` + bigBrand + `'
    ELSE '` + smallBrand + `' END::uuid,
  CASE WHEN big AND i > 40 THEN NULL ELSE '` + aCampaign + `'::uuid END,
  CASE WHEN big AND i > 40 AND i % 8 = 2 THEN 'PROCESSING' WHEN big AND i > 40 THEN 'COMPLETED' ELSE 'REQUESTED' END,
  'CATALOG', gen_random_uuid(), 'Mug', 'SE', false, '\x01', at, at
FROM (SELECT i, i % 4 < 3 AS big, now() - (20000 - i) * interval '1 minute' AS at FROM generate_series(1, 20000) AS i) AS n`

func setup(t *testing.T) *Store {
	t.Helper()
	pool := pgtest.New(t, Migrations())
	_, err := pool.Exec(t.Context(), fill)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), "ANALYZE orders")
	require.NoError(t, err)
	return New(pool, nil, nil)
}

// TestAPageIsReadWithoutScanningTheTenant counts the rows read for a page, which must not grow with the tenant.
func TestAPageIsReadWithoutScanningTheTenant(t *testing.T) {
	t.Parallel()
	s := setup(t)
	const limit, found = 21, 21
	since, longSince := time.Now().Add(-15*time.Minute), time.Now().Add(-6*time.Hour)
	for name, tc := range map[string]struct {
		filter Filter
		found  int
	}{
		"all":                            {Filter{AllBrands: true}, found},
		"of a key limited to one brand":  {Filter{BrandIDs: []string{smallBrand}}, found},
		"of a key limited to brands":     {Filter{BrandIDs: []string{smallBrand, noBrand, smallBrand}}, found},
		"of a key that reaches no brand": {Filter{}, 0},
		"by brand":                       {Filter{AllBrands: true, BrandID: new(smallBrand)}, found},
		"by brand, of a limited key":     {Filter{BrandIDs: []string{smallBrand, bigBrand}, BrandID: new(smallBrand)}, found},
		"by a brand out of reach":        {Filter{BrandIDs: []string{smallBrand}, BrandID: new(bigBrand)}, 0},
		"by a status few have":           {Filter{AllBrands: true, Status: ordersv1.OrderStatus_ORDER_STATUS_REQUESTED.Enum()}, found},
		"by a status none has":           {Filter{AllBrands: true, Status: ordersv1.OrderStatus_ORDER_STATUS_SENT.Enum()}, 0},
		"by a brand and a status that no order has both of": {
			Filter{AllBrands: true, BrandID: new(doneBrand), Status: ordersv1.OrderStatus_ORDER_STATUS_PROCESSING.Enum()}, 0,
		},
		"by status, of a limited key": {
			Filter{BrandIDs: []string{doneBrand}, Status: ordersv1.OrderStatus_ORDER_STATUS_PROCESSING.Enum()}, 0,
		},
		"by external id":   {Filter{AllBrands: true, ExternalOrderID: new("e1")}, 1},
		"changed recently": {Filter{AllBrands: true, UpdatedSince: &since}, 11},
		"changed long ago": {Filter{AllBrands: true, UpdatedSince: &longSince}, found},
		"changed long ago, of a key": {
			Filter{BrandIDs: []string{bigBrand, doneBrand}, UpdatedSince: &longSince}, found,
		},
	} {
		t.Run(name, func(t *testing.T) {
			tc.filter.TenantID, tc.filter.Limit = bigTenant, limit
			orders, err := s.List(t.Context(), tc.filter)
			require.NoError(t, err)
			require.Len(t, orders, tc.found)
			for i := 1; i < len(orders); i++ {
				require.True(t, orders[i].GetCreatedAt().AsTime().Before(orders[i-1].GetCreatedAt().AsTime()), "newest first")
			}
			rows, left := 0, limit
			for _, part := range tc.filter.parts() {
				if part.Limit = left; part.Limit > 0 {
					sql, args := part.statement()
					read := planOf(t, s.pool, sql, args)
					rows, left = rows+read.rows(), left-int(read.Rows)
				}
			}
			require.LessOrEqual(t, rows, 200)
		})
	}
	t.Run("by campaign, for the operator", func(t *testing.T) {
		sql, args := Search{TenantID: new(bigTenant), CampaignID: new(aCampaign), Limit: limit}.statement()
		require.LessOrEqual(t, planOf(t, s.pool, sql, args).rows(), 200)
	})
}

// A cached plan fits the average tenant only.
func TestListsAreNotPrepared(t *testing.T) {
	t.Parallel()
	s := New(pgtest.New(t, Migrations()), nil, nil)
	for range 3 {
		_, err := s.List(t.Context(), Filter{TenantID: bigTenant, BrandIDs: []string{bigBrand}, Limit: 1})
		require.NoError(t, err)
		_, err = s.Search(t.Context(), Search{TenantID: new(bigTenant), Limit: 1})
		require.NoError(t, err)
	}
	kept := 0
	for _, conn := range s.pool.AcquireAllIdle(t.Context()) {
		var n int
		err := conn.QueryRow(t.Context(),
			"SELECT count(*) FROM pg_prepared_statements WHERE strpos(statement, 'FROM orders') > 0").Scan(&n)
		conn.Release()
		require.NoError(t, err)
		kept += n
	}
	require.Zero(t, kept)
}

// plan is a node of the output of EXPLAIN.
type plan struct {
	Rows    float64 `json:"Actual Rows"`
	Loops   float64 `json:"Actual Loops"`
	Removed float64 `json:"Rows Removed by Filter"`
	Plans   []plan
}

// rows is how many rows the node and those below it returned or filtered out.
func (p plan) rows() int {
	n := int((p.Rows + p.Removed) * p.Loops)
	for _, below := range p.Plans {
		n += below.rows()
	}
	return n
}

func planOf(t *testing.T, pool *pgxpool.Pool, sql string, args []any) plan {
	t.Helper()
	var raw string
	require.NoError(t, pool.QueryRow(t.Context(), "EXPLAIN (ANALYZE, FORMAT JSON) "+sql, args...).Scan(&raw))
	var plans []struct{ Plan plan }
	require.NoError(t, json.Unmarshal([]byte(raw), &plans), fmt.Sprint(raw))
	return plans[0].Plan
}

// Ten orders of two brands, one each minute, but the seventh in the same minute as the sixth. Those with odd numbers changed
// when the last was placed.
const fillChanged = `INSERT INTO orders (tenant_id, id, reference, source, brand_id, status, item_kind, product_id, product_name,
  delivery_country, received_outside_active_hours, details_sealed, created_at, updated_at)
SELECT '` + bigTenant + `', lpad(i::text, 32, '0')::uuid, i, 'API',
  CASE WHEN i % 4 < 2 THEN '` + bigBrand + `' ELSE '` + smallBrand + `' END::uuid,
  'REQUESTED', 'CATALOG', gen_random_uuid(), 'Mug', 'SE', false, '\x01',
  $1::timestamptz + CASE WHEN i = 7 THEN 6 ELSE i END * interval '1 minute',
  $1::timestamptz + CASE WHEN i % 2 = 1 THEN 10 ELSE i END * interval '1 minute'
FROM generate_series(1, 10) AS i`

// Changed orders are read in two parts, and a page may have orders of both.
func TestPagesOfChangedOrdersHaveNoGapAndNoRepetition(t *testing.T) {
	t.Parallel()
	s := New(pgtest.New(t, Migrations()), nil, nil)
	began := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	_, err := s.pool.Exec(t.Context(), fillChanged, began)
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		filter Filter
		since  time.Duration
		want   []int
	}{
		"placed and changed since": {Filter{AllBrands: true}, 6 * time.Minute, []int{10, 9, 8, 7, 6, 5, 3, 1}},
		"below the precision of the database": {
			Filter{AllBrands: true}, 6*time.Minute + 500*time.Nanosecond, []int{10, 9, 8, 7, 6, 5, 3, 1},
		},
		"all placed since":            {Filter{AllBrands: true}, 0, []int{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}},
		"nothing since":               {Filter{AllBrands: true}, 11 * time.Minute, nil},
		"of a brand":                  {Filter{AllBrands: true, BrandID: new(bigBrand)}, 6 * time.Minute, []int{9, 8, 5, 1}},
		"of a key limited to a brand": {Filter{BrandIDs: []string{smallBrand}}, 6 * time.Minute, []int{10, 7, 6, 3}},
	} {
		for limit := 1; limit <= 11; limit++ {
			t.Run(name+", "+strconv.Itoa(limit)+" at a time", func(t *testing.T) {
				filter := tc.filter
				filter.TenantID, filter.Limit, filter.UpdatedSince = bigTenant, limit, new(began.Add(tc.since))
				require.Equal(t, tc.want, references(t, s, filter))
			})
		}
	}
}

// references reads all pages.
func references(t *testing.T, s *Store, f Filter) []int {
	t.Helper()
	var all []int
	for {
		orders, err := s.List(t.Context(), f)
		require.NoError(t, err)
		require.LessOrEqual(t, len(orders), f.Limit)
		for _, o := range orders {
			number, err := strconv.Atoi(o.GetReference())
			require.NoError(t, err)
			all = append(all, number)
			f.After = &page.Position{Time: o.GetCreatedAt().AsTime(), ID: o.GetId()}
		}
		if len(orders) < f.Limit {
			return all
		}
	}
}
