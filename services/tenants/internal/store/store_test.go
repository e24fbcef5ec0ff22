package store_test

import (
	"io"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

const (
	checkViolation = "23514"
	waitLimit      = 10 * time.Second
	pollInterval   = 5 * time.Millisecond
)

// operator may do everything.
var operator = store.Authorization{
	Actor: &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "staff-7"},
	Needs: caller.Permission{Operator: true},
}

func setup(t *testing.T) (*store.Store, *pgxpool.Pool, string) {
	t.Helper()
	pool := pgtest.New(t, store.Migrations())
	s := store.New(pool)
	id := uuid.NewString()
	_, version, err := s.PutTenant(t.Context(), operator,
		&tenantsv1.Tenant{Id: id, Name: "n", Locales: []string{"en-US"}, Currency: "EUR"}, true)
	require.NoError(t, err)
	require.EqualValues(t, 1, version)
	return s, pool, id
}

func TestAChangeWaitsForThePreviousOneAndSeesIt(t *testing.T) {
	t.Parallel()
	s, pool, tenant := setup(t)
	field := uuid.NewString()
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `UPDATE tenants SET version = version + 1 WHERE id = $1`, tenant)
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `INSERT INTO custom_fields (tenant_id, id, label, type, required, options, position)
		VALUES ($1, $2, 'l', 'TEXT', true, '{}', 1)`, tenant, field)
	require.NoError(t, err)

	results := make(chan error, 1)
	go func() {
		_, err := s.PutCustomField(t.Context(), tenant, operator, &tenantsv1.CustomField{
			Id: field, Label: "other", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_CHECKBOX,
		}, 1)
		results <- err
	}()
	require.Eventually(t, func() bool {
		var waiting bool
		err := pool.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock')`).Scan(&waiting)
		return err == nil && waiting
	}, waitLimit, pollInterval)
	require.NoError(t, tx.Commit(t.Context()))
	require.ErrorIs(t, <-results, store.ErrTypeFixed, "the row of the tenant is locked before anything is read")

	version, err := s.PutBrand(t.Context(), tenant, operator, &tenantsv1.Brand{Id: uuid.NewString(), Name: "n", Slug: "s"})
	require.NoError(t, err)
	require.EqualValues(t, 3, version, "it continues from the previous change")
}

func TestARefusedChangeDoesNotRaiseTheVersion(t *testing.T) {
	t.Parallel()
	s, _, tenant := setup(t)
	field := &tenantsv1.CustomField{
		Id: uuid.NewString(), Label: "l", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_TEXT,
	}
	_, err := s.PutCustomField(t.Context(), tenant, operator, field, 1)
	require.NoError(t, err)
	field.Type = tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_CHECKBOX
	_, err = s.PutCustomField(t.Context(), tenant, operator, field, 1)
	require.ErrorIs(t, err, store.ErrTypeFixed)
	wanted := rules.Grants{Name: "k", BrandIDs: []string{uuid.NewString()}}
	_, _, err = s.CreateKey(t.Context(), tenant, operator, store.Key{Grants: wanted}, store.Secrets{})
	var unknown *store.UnknownBrandError
	require.ErrorAs(t, err, &unknown)
	settings, err := s.Settings(t.Context(), tenant)
	require.NoError(t, err)
	require.EqualValues(t, 2, settings.GetVersion())
}

func TestOnlyAVersionThatWasNotReachedMakesVersionsSkip(t *testing.T) {
	t.Parallel()
	s, pool, behind := setup(t)
	reached := uuid.NewString()
	_, version, err := s.PutTenant(t.Context(), operator, &tenantsv1.Tenant{
		Id: reached, Name: "n", Locales: []string{"en-US"}, Currency: "EUR",
	}, true)
	require.NoError(t, err)
	seen := []store.TenantVersion{{TenantID: reached, Version: version}}
	for range 2 { // The first look and a later one.
		why, err := s.SkipAfterRestore(t.Context(), seen)
		require.NoError(t, err)
		require.Equal(t, store.NotSkipped, why)
	}
	ahead := time.Now().Add(time.Hour).UnixMicro()
	why, err := s.SkipAfterRestore(t.Context(), append(seen, store.TenantVersion{TenantID: behind, Version: ahead}))
	require.NoError(t, err)
	require.Equal(t, store.SkipBehind, why)
	var skipped, passed int64
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT version FROM tenants WHERE id = $1", reached).Scan(&skipped))
	require.NoError(t, pool.QueryRow(t.Context(), "SELECT version FROM tenants WHERE id = $1", behind).Scan(&passed))
	require.Greater(t, skipped, version+1, "it skipped, and was not set back to what was seen")
	require.Equal(t, ahead+1, passed)
}

func TestTheSchemaRefusesInvalidRows(t *testing.T) {
	t.Parallel()
	_, pool, tenant := setup(t)
	const (
		insertMember = `INSERT INTO team_members (tenant_id, id, name, email, role, active)
  VALUES ($1, gen_random_uuid(), 'n', `
		insertField = `INSERT INTO custom_fields (tenant_id, id, label, type, required, options, position)
  VALUES ($1, gen_random_uuid(), 'l', `
		insertKey = `INSERT INTO api_keys (tenant_id, hash, prefix, name, scopes, all_brands, brand_ids, webhook_secret)
  VALUES ($1, `
	)
	for name, sql := range map[string]string{
		"locales without en-US first":  `UPDATE tenants SET locales = '{sv-SE,en-US}' WHERE id = $1`,
		"no locales":                   `UPDATE tenants SET locales = '{}' WHERE id = $1`,
		"a lower-case currency":        `UPDATE tenants SET currency = 'eur' WHERE id = $1`,
		"an upper-case e-mail address": insertMember + `'A@b.se', 'MEMBER', true)`,
		"an unknown role":              insertMember + `'a@b.se', 'OWNER', true)`,
		"a dropdown without options":   insertField + `'DROPDOWN', true, '{}', 1)`,
		"a text with options":          insertField + `'TEXT', true, '{a}', 1)`,
		"brands beside all brands":     insertKey + `sha256('a'), 'p', 'n', '{}', true, ARRAY[gen_random_uuid()], '')`,
		"an unknown scope":             insertKey + `sha256('a'), 'p', 'n', '{ADMIN}', true, '{}', '')`,
		"a key that is not hashed":     insertKey + `'gft_live_x', 'p', 'n', '{}', true, '{}', '')`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pool.Exec(t.Context(), sql, tenant)
			require.Equal(t, checkViolation, postgres.State(err), "%v", err)
		})
	}
}

func TestMigrationsRunAgainWithoutEffect(t *testing.T) {
	t.Parallel()
	url := pgtest.NewURL(t, store.Migrations())
	require.NoError(t, postgres.Migrate(t.Context(), postgres.Config{URL: url}, io.Discard, store.Migrations()))
}
