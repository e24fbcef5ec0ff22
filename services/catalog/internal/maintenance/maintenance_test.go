package maintenance_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/services/catalog/internal/maintenance"
	"github.com/partnergifting/platform/services/catalog/internal/rules"
	"github.com/partnergifting/platform/services/catalog/internal/store"
)

const (
	day            = 24 * time.Hour
	auditRetention = 3 * 365 * day
	tenantID       = "0196a000-0000-7000-8000-000000000001"
)

type fixture struct {
	t     *testing.T
	db    *pgxpool.Pool
	store *store.Store
}

func setup(t *testing.T) *fixture {
	t.Helper()
	db := pgtest.New(t, store.Migrations())
	return &fixture{t: t, db: db, store: store.New(db, false)}
}

func (f *fixture) maintain() {
	f.t.Helper()
	require.NoError(f.t, maintenance.Run(f.t.Context(), f.store, auditRetention, 0))
}

// campaign puts an active campaign.
func (f *fixture) campaign(expiresAt *time.Time, offerings ...rules.Offering) string {
	f.t.Helper()
	id := uuid.NewString()
	require.NoError(f.t, f.store.PutCampaign(f.t.Context(), rules.Campaign{
		TenantID: tenantID, ID: id, BrandID: uuid.NewString(), Name: "Summer", Status: rules.CampaignActive,
		ExpiresAt: expiresAt, Offerings: offerings,
	}))
	return id
}

// audit returns the actions on a record.
func (f *fixture) audit(subject string) (actions []string) {
	f.t.Helper()
	found, err := f.store.Audit(f.t.Context(), subject, nil, 100)
	require.NoError(f.t, err)
	for _, e := range found {
		actions = append(actions, e.GetAction())
	}
	return actions
}

// A campaign that has completed at its expiry stays completed if its expiry changes.
func TestAnExpiryIsRecordedOnce(t *testing.T) {
	t.Parallel()
	f := setup(t)
	past := time.Now().Add(-time.Minute)
	expired, other, draft := f.campaign(&past), f.campaign(nil), f.campaign(&past)
	pgtest.Exec(t, f.db, `UPDATE campaigns SET status = 'DRAFT' WHERE id = $1`, draft)
	stored := func(id string) string {
		return pgtest.Value[string](t, f.db, `SELECT status FROM campaigns WHERE id = $1`, id)
	}
	require.Equal(t, rules.CampaignActive, stored(expired))
	head, _, err := f.store.CampaignHead(t.Context(), tenantID, expired)
	require.NoError(t, err)
	require.Equal(t, rules.CampaignCompleted, head.Status)
	for range 2 {
		f.maintain()
		require.Equal(t, rules.CampaignCompleted, stored(expired))
		require.Equal(t, rules.CampaignActive, stored(other))
		require.Equal(t, []string{"campaign.expire"}, f.audit(expired))
		require.Equal(t, rules.CampaignCompleted, stored(draft))
	}
	require.Equal(t, 2, pgtest.Value[int](t, f.db, `SELECT count(*) FROM catalog_audit WHERE tenant_id = $1`, tenantID))
}

func TestOldReservationsAndAuditEntriesAreDeleted(t *testing.T) {
	t.Parallel()
	f := setup(t)
	gift := rules.Product{
		ID: uuid.NewString(), State: rules.Published, Text: rules.Text{Name: "Mug"},
		Translations: map[string]rules.Text{}, Variations: []rules.Variation{}, Details: map[string]rules.Details{},
		ImageVariations: map[string]map[string]string{},
	}
	stock := int32(5)
	_, err := f.store.PutProduct(t.Context(), gift, func(rules.References) error { return nil })
	require.NoError(t, err)
	c := f.campaign(nil, rules.Offering{
		ProductID: gift.ID, SupplyType: rules.Stocked, SKUs: []rules.SKU{{InitialStock: &stock}},
	})
	reserve := func() string {
		r, err := f.store.Reserve(t.Context(), store.Attempt{
			Key: []byte(uuid.NewString()), OrderID: uuid.NewString(), TenantID: tenantID, CampaignID: c, ProductID: gift.ID,
			VariationsKey: rules.VariationsKey(nil),
		}, time.Minute)
		require.NoError(t, err)
		return r.GetOrderId()
	}
	held, confirmed, released, fresh := reserve(), reserve(), reserve(), reserve()
	require.NoError(t, f.store.ConfirmAndRelease(t.Context(), []string{confirmed}, []string{released, fresh}))
	pgtest.Exec(t, f.db, `UPDATE reservations SET expires_at = expires_at - interval '31 days' WHERE order_id <> $1`, fresh)
	for _, age := range []time.Duration{364 * day, auditRetention + time.Minute, auditRetention + day} {
		pgtest.Exec(t, f.db, `INSERT INTO catalog_audit (id, at, actor_kind, actor_id, action, subject_id, detail)
VALUES (gen_random_uuid(), clock_timestamp() - $1::interval, 'BACKOFFICE_ACCOUNT', 'staff-7', 'campaign.start', $2, '{}')`, age, c)
	}
	f.maintain()
	left := pgtest.Value[[]string](t, f.db, `SELECT array_agg(order_id::text) FROM reservations`)
	require.ElementsMatch(t, []string{held, confirmed, fresh}, left)
	require.Equal(t, []string{"campaign.start"}, f.audit(c))

	require.NoError(t, f.store.ConfirmAndRelease(t.Context(), []string{released}, []string{released, confirmed}))
	require.Equal(t, 4, pgtest.Value[int](t, f.db, `SELECT stock FROM skus`),
		"the confirmed unit is returned; the released one already was")
}
