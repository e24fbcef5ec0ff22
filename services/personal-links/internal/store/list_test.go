package store

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
)

const (
	aTenant = "0198f2e4-0000-7000-8000-000000000001"
	aBrand  = "0198f2e4-0000-7000-8000-000000000002"

	// Of a thousand links one is of the brand, and another one waits for approval.
	insertMany = `INSERT INTO links (tenant_id, id, brand_id, batch_id, batch_index, status, claim_url_sealed, created_at, updated_at)
SELECT $1::uuid, gen_random_uuid(), CASE WHEN i % 1000 = 0 THEN $2::uuid ELSE gen_random_uuid() END, gen_random_uuid(), 0,
  CASE WHEN i % 1000 = 1 THEN 'REQUESTED' ELSE 'ACTIVE' END, '', at, at
FROM (SELECT i, now() - i * interval '1 second' AS at FROM generate_series(1, 10000) AS i) AS made`
)

func TestFewLinksAmongManyAreFoundByAnIndex(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t, Migrations())
	_, err := pool.Exec(t.Context(), insertMany, aTenant, aBrand)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), "ANALYZE links")
	require.NoError(t, err)
	for name, c := range map[string]struct {
		query Query
		index string
	}{
		"the links of a status": {
			Query{AllBrands: true, Status: new(linksv1.PersonalLinkStatus_PERSONAL_LINK_STATUS_REQUESTED)}, "links_status",
		},
		"the links of a limited key":           {Query{BrandIDs: []string{aBrand}}, "links_brand"},
		"the links of a key of several brands": {Query{BrandIDs: []string{aBrand, aTenant}}, "links_brand"},
	} {
		t.Run(name, func(t *testing.T) {
			c.query.TenantID, c.query.Limit = aTenant, 50
			sql, args := c.query.statement()
			rows, err := pool.Query(t.Context(), "EXPLAIN "+sql, args...)
			require.NoError(t, err)
			plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
			require.NoError(t, err)
			require.Contains(t, strings.Join(plan, "\n"), c.index)
		})
	}
}
