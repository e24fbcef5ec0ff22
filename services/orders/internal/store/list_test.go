package store

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/page/pagetest"
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

// of is a key of the big tenant for the brands, or for all if none is named.
func of(brands ...string) caller.Principal {
	return caller.Principal{TenantID: bigTenant, AllBrands: len(brands) == 0, BrandIDs: brands}
}

// rowsRead is how many rows are read for the page.
func (l List) rowsRead(t *testing.T, s *Store) (rows int) {
	t.Helper()
	left := l.Limit
	for _, part := range l.parts() {
		if part.Limit = left; part.Limit > 0 {
			sql, args := part.statement()
			read, found := pgtest.Rows(t, s.pool, sql, args...)
			rows, left = rows+read, left-found
		}
	}
	return rows
}

// TestAPageIsReadWithoutScanningTheTenant counts the rows read for a page, which must not grow with the tenant.
func TestAPageIsReadWithoutScanningTheTenant(t *testing.T) {
	t.Parallel()
	s := setup(t)
	type filters = ordersv1.ListOrdersRequest
	const limit, found, most = 21, 21, 200
	requested, processing := ordersv1.OrderStatus_ORDER_STATUS_REQUESTED, ordersv1.OrderStatus_ORDER_STATUS_PROCESSING
	since, longSince := timestamppb.New(time.Now().Add(-15*time.Minute)), timestamppb.New(time.Now().Add(-6*time.Hour))
	for name, tc := range map[string]struct {
		key   caller.Principal
		by    *filters
		found int
	}{
		"all":                            {of(), &filters{}, found},
		"of a key limited to one brand":  {of(smallBrand), &filters{}, found},
		"of a key limited to brands":     {of(smallBrand, noBrand, smallBrand), &filters{}, found},
		"of a key that reaches no brand": {caller.Principal{TenantID: bigTenant}, &filters{}, 0},
		"by brand":                       {of(), &filters{BrandId: new(smallBrand)}, found},
		"by brand, of a limited key":     {of(smallBrand, bigBrand), &filters{BrandId: new(smallBrand)}, found},
		"by a brand out of reach":        {of(smallBrand), &filters{BrandId: new(bigBrand)}, 0},
		"by a status few have":           {of(), &filters{Status: &requested}, found},
		"by a brand and a status that no order has both of": {
			of(), &filters{BrandId: new(doneBrand), Status: &processing}, 0,
		},
		"by status, of a limited key": {of(doneBrand), &filters{Status: &processing}, 0},
		"by external id":              {of(), &filters{ExternalOrderId: new("e1")}, 1},
		"changed recently":            {of(), &filters{UpdatedSince: since}, 11},
		"changed long ago":            {of(), &filters{UpdatedSince: longSince}, found},
		"changed long ago, of a key":  {of(bigBrand, doneBrand), &filters{UpdatedSince: longSince}, found},
	} {
		t.Run(name, func(t *testing.T) {
			list := List{Key: tc.key, Filters: tc.by, Limit: limit}
			orders, err := s.List(t.Context(), list)
			require.NoError(t, err)
			require.Len(t, orders, tc.found)
			for i := 1; i < len(orders); i++ {
				require.True(t, orders[i].GetCreatedAt().AsTime().Before(orders[i-1].GetCreatedAt().AsTime()), "newest first")
			}
			require.LessOrEqual(t, list.rowsRead(t, s), most)
		})
	}
	pagetest.EachFilter(t, &filters{}, func(t *testing.T, by *filters) {
		require.LessOrEqual(t, List{Key: of(), Filters: by, Limit: limit}.rowsRead(t, s), most, "an index serves each filter")
	})
	t.Run("by campaign, for the operator", func(t *testing.T) {
		by := &ordersv1.SearchOrdersRequest{TenantId: new(bigTenant), CampaignId: new(aCampaign)}
		sql, args := Search{Filters: by, Limit: limit}.statement()
		read, _ := pgtest.Rows(t, s.pool, sql, args...)
		require.LessOrEqual(t, read, most)
	})
}

// A cached plan fits the average tenant only.
func TestListsAreNotPrepared(t *testing.T) {
	t.Parallel()
	s := New(pgtest.New(t, Migrations()), nil, nil)
	for range 3 {
		_, err := s.List(t.Context(), List{Key: of(bigBrand), Filters: &ordersv1.ListOrdersRequest{}, Limit: 1})
		require.NoError(t, err)
		_, err = s.Search(t.Context(), Search{Filters: &ordersv1.SearchOrdersRequest{TenantId: new(bigTenant)}, Limit: 1})
		require.NoError(t, err)
	}
	kept := 0
	for _, conn := range s.pool.AcquireAllIdle(t.Context()) {
		var n int
		const prepared = "SELECT count(*) FROM pg_prepared_statements WHERE strpos(statement, $1) > 0"
		err := conn.QueryRow(t.Context(), prepared, "FROM orders").Scan(&n)
		conn.Release()
		require.NoError(t, err)
		kept += n
	}
	require.Zero(t, kept)
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
		key   caller.Principal
		brand *string
		since time.Duration
		want  []int
	}{
		"placed and changed since":    {of(), nil, 6 * time.Minute, []int{10, 9, 8, 7, 6, 5, 3, 1}},
		"all placed since":            {of(), nil, 0, []int{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}},
		"nothing since":               {of(), nil, 11 * time.Minute, nil},
		"of a brand":                  {of(), new(bigBrand), 6 * time.Minute, []int{9, 8, 5, 1}},
		"of a key limited to a brand": {of(smallBrand), nil, 6 * time.Minute, []int{10, 7, 6, 3}},
	} {
		for limit := 1; limit <= 11; limit++ {
			t.Run(name+", "+strconv.Itoa(limit)+" at a time", func(t *testing.T) {
				by := &ordersv1.ListOrdersRequest{BrandId: tc.brand, UpdatedSince: timestamppb.New(began.Add(tc.since))}
				require.Equal(t, tc.want, references(t, s, List{Key: tc.key, Filters: by, Limit: limit}))
			})
		}
	}
}

// references reads all pages.
func references(t *testing.T, s *Store, l List) []int {
	t.Helper()
	var all []int
	for {
		orders, err := s.List(t.Context(), l)
		require.NoError(t, err)
		require.LessOrEqual(t, len(orders), l.Limit)
		for _, o := range orders {
			number, err := strconv.Atoi(o.GetReference())
			require.NoError(t, err)
			all = append(all, number)
			l.After = &page.Position{Time: o.GetCreatedAt().AsTime(), ID: o.GetId()}
		}
		if len(orders) < l.Limit {
			return all
		}
	}
}

func TestOpenOrdersAreFoundAmongManyThatAreErased(t *testing.T) {
	t.Parallel()
	s := setup(t)
	_, err := s.pool.Exec(t.Context(),
		`UPDATE orders SET created_at = created_at - interval '2 years', updated_at = updated_at - interval '2 years',
  status = 'SENT', details_sealed = '', details_erased_at = now() WHERE status = 'COMPLETED'`)
	require.NoError(t, err)
	_, err = s.pool.Exec(t.Context(), "VACUUM ANALYZE orders")
	require.NoError(t, err)
	const year = 365 * 24 * time.Hour
	read, _ := pgtest.Rows(t, s.pool, findStale, year, 10)
	require.Zero(t, read)
	read, found := pgtest.Rows(t, s.pool, findStale, time.Minute, 10)
	require.Equal(t, 10, found)
	require.Less(t, read, 100)
}
