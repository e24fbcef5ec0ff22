package store

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/cursor"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
)

// Ten orders of two brands in turn, one each minute, but the seventh in the same minute as the sixth. Those with odd
// numbers changed when the last was placed.
const fillChanged = `INSERT INTO orders (tenant_id, id, reference, source, brand_id, status, item_kind, product_id, product_name,
  delivery_country, received_outside_active_hours, details_sealed, created_at, updated_at)
SELECT '` + bigTenant + `', lpad(i::text, 32, '0')::uuid, i, 'API', CASE WHEN i % 4 < 2 THEN '` + bigBrand + `' ELSE '` + smallBrand + `' END::uuid,
  'REQUESTED', 'CATALOG', gen_random_uuid(), 'Mug', 'SE', false, '\x01', $1::timestamptz + CASE WHEN i = 7 THEN 6 ELSE i END * interval '1 minute',
  $1::timestamptz + CASE WHEN i % 2 = 1 THEN 10 ELSE i END * interval '1 minute'
FROM generate_series(1, 10) AS i`

// What changed is read in two parts, and a page may have some of both.
func TestPagesOfChangedOrdersHaveNoGapAndNoRepetition(t *testing.T) {
	t.Parallel()
	s := New(pgtest.New(t, Migrations()), nil)
	began := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	_, err := s.pool.Exec(t.Context(), fillChanged, began)
	require.NoError(t, err)
	for name, tc := range map[string]struct {
		filter Filter
		since  time.Duration
		want   []int
	}{
		"placed and changed since":    {Filter{AllBrands: true}, 6 * time.Minute, []int{10, 9, 8, 7, 6, 5, 3, 1}},
		"less than what is kept":      {Filter{AllBrands: true}, 6*time.Minute + 500*time.Nanosecond, []int{10, 9, 8, 7, 6, 5, 3, 1}},
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
			f.After = &cursor.Position{Time: o.GetCreatedAt().AsTime(), ID: o.GetId()}
		}
		if len(orders) < f.Limit {
			return all
		}
	}
}
