package store

import (
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/page/pagetest"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

const (
	aTenant = "0198f2e4-0000-7000-8000-000000000001"
	aBrand  = "0198f2e4-0000-7000-8000-000000000002"
	// An old brand has only the oldest links.
	oldBrand = "0198f2e4-0000-7000-8000-000000000003"

	// Of a thousand links one is of the brand, and another one waits for approval.
	insertMany = `INSERT INTO links (tenant_id, id, brand_id, batch_id, batch_index, status, claim_url_sealed, created_at, updated_at)
SELECT $1::uuid, gen_random_uuid(), CASE WHEN i % 1000 = 0 THEN $2::uuid WHEN i > 9600 THEN $3 ELSE gen_random_uuid() END,
  gen_random_uuid(), 0,
  CASE WHEN i % 1000 = 1 THEN 'REQUESTED' ELSE 'ACTIVE' END, '', at, at
FROM (SELECT i, now() - i * interval '1 second' AS at FROM generate_series(1, 10000) AS i) AS made`
)

func TestFewLinksAmongManyAreFoundByAnIndex(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, Migrations())
	_, err := pool.Exec(t.Context(), insertMany, aTenant, aBrand, oldBrand)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), "ANALYZE links")
	require.NoError(t, err)
	for name, brands := range map[string][]string{
		"the links of a limited key": {aBrand}, "the links of a key of several brands": {aBrand, aTenant},
		"the links of a key of old brands": {aBrand, oldBrand},
	} {
		t.Run(name, func(t *testing.T) {
			requireFewRows(t, pool, List{
				Key: caller.Principal{TenantID: aTenant, BrandIDs: brands}, Filters: &linksv1.ListPersonalLinksRequest{}, Limit: 50,
			})
		})
	}
	pagetest.EachFilter(t, &linksv1.ListPersonalLinksRequest{}, func(t *testing.T, by *linksv1.ListPersonalLinksRequest) {
		for _, key := range []caller.Principal{{AllBrands: true}, {BrandIDs: []string{aBrand}}, {BrandIDs: []string{aBrand, oldBrand}}} {
			key.TenantID = aTenant
			requireFewRows(t, pool, List{Key: key, Filters: by, Limit: 50})
		}
	})
}

func requireFewRows(t *testing.T, pool *pgxpool.Pool, l List) {
	t.Helper()
	sql, args := l.statement()
	read, _ := pgtest.Rows(t, pool, sql, args...)
	require.LessOrEqual(t, read, 300, sql)
}
