package store

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

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

// Half of the links are of one brand and active, the others of another one and cancelled.
const insertHalves = `INSERT INTO links (
  tenant_id, id, brand_id, batch_id, batch_index, status, claim_url_sealed, created_at, updated_at, cancelled_at)
SELECT $1::uuid, gen_random_uuid(), CASE WHEN i % 2 = 0 THEN $2::uuid ELSE $3 END, gen_random_uuid(), 0,
  CASE WHEN i % 2 = 0 THEN 'ACTIVE' ELSE 'CANCELLED' END, '', at, at, CASE WHEN i % 2 = 1 THEN at END
FROM (SELECT i, now() - i * interval '1 second' AS at FROM generate_series(1, 20000) AS i) AS made`

func TestTheFewLinksThatTwoFiltersShareAreFoundByAnIndex(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, Migrations())
	_, err := pool.Exec(t.Context(), insertHalves, aTenant, aBrand, oldBrand)
	require.NoError(t, err)
	// The planner expects that a tenant has links of each status.
	_, err = pool.Exec(t.Context(), "UPDATE links SET tenant_id = $2 WHERE brand_id = $1", oldBrand, oldBrand)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), insertHalves, oldBrand, aBrand, oldBrand)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), "ANALYZE links")
	require.NoError(t, err)
	cancelled := linksv1.PersonalLinkStatus_PERSONAL_LINK_STATUS_CANCELLED
	t.Run("a brand and a status", func(t *testing.T) {
		requireFewRows(t, pool, List{
			Key:     caller.Principal{TenantID: oldBrand, BrandIDs: []string{aBrand}},
			Filters: &linksv1.ListPersonalLinksRequest{Status: &cancelled}, Limit: 50,
		})
	})
	t.Run("a status and a change", func(t *testing.T) {
		yesterday := timestamppb.New(time.Now().Add(-24 * time.Hour))
		requireFewRows(t, pool, List{
			Key:     caller.Principal{TenantID: aTenant, AllBrands: true},
			Filters: &linksv1.ListPersonalLinksRequest{Status: &cancelled, UpdatedSince: yesterday}, Limit: 50,
		})
	})
}
