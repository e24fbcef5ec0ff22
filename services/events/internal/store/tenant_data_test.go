package store_test

import (
	"testing"

	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	"github.com/partnergifting/platform/services/events/internal/store"
)

func TestEveryTableOfTenantsIsErased(t *testing.T) {
	t.Parallel()
	tenantstest.Check(t, store.TenantData(nil, nil), func(t *testing.T, db postgres.Querier, tenantID string, _ int32) {
		pgtest.Exec(t, db, `CREATE TABLE IF NOT EXISTS feed_today PARTITION OF feed FOR VALUES FROM ('2026-01-01') TO ('2026-01-02')`)
		for _, sql := range []string{
			`INSERT INTO feed (tenant_id, day, position, event_id, type, brand_id, subject_id, origin_key_id, occurred_at, recorded_at, data)
			 VALUES ($1, '2026-01-01', 7, gen_random_uuid(), 'order.requested', $1, $1, 0, now(), now(), '{}')`,
			`INSERT INTO feed_tenants (tenant_id, last_position) VALUES ($1, 7)`,
			`INSERT INTO feed_dropped (tenant_id, position) VALUES ($1, 7)`,
			`INSERT INTO feed_moved_epochs (tenant_id, id, survived, before_epoch) VALUES ($1, 7, 7, 1)`,
		} {
			pgtest.Exec(t, db, sql, tenantID)
		}
	}, daemon.RetentionClockMigrations(), store.Migrations())
}
