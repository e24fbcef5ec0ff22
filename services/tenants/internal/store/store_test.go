package store_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/daemon"
	"github.com/partnergifting/platform/pkg/idempotency"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/tenants/tenantstest"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

const checkViolation = "23514"

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
		&tenantsv1.Tenant{Id: id, Name: "n", Locales: []string{"en-US"}, Currency: "EUR"}, true, "")
	require.NoError(t, err)
	require.EqualValues(t, 1, version)
	return s, pool, id
}

// afterAnother makes a change of the tenant that waits for another one, that of the statement, and returns its result.
func afterAnother(t *testing.T, pool *pgxpool.Pool, change func() error, sql, tenant, id string) error {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	pgtest.Exec(t, tx, `UPDATE tenants SET version = version + 1 WHERE id = $1`, tenant)
	pgtest.Exec(t, tx, sql, tenant, id)
	result := make(chan error, 1)
	go func() { result <- change() }()
	pgtest.AwaitLock(t, pool)
	require.NoError(t, tx.Commit(t.Context()))
	return <-result
}

func TestAChangeWaitsForThePreviousOneAndSeesIt(t *testing.T) {
	t.Parallel()
	s, pool, tenant := setup(t)
	field := uuid.NewString()
	err := afterAnother(t, pool, func() error {
		_, err := s.PutCustomField(t.Context(), tenant, operator, &tenantsv1.CustomField{
			Id: field, Label: "other", Type: tenantsv1.CustomFieldType_CUSTOM_FIELD_TYPE_CHECKBOX,
		}, 1)
		return err
	}, `INSERT INTO custom_fields (tenant_id, id, label, type, required, options, position)
		VALUES ($1, $2, 'l', 'TEXT', true, '{}', 1)`, tenant, field)
	require.ErrorIs(t, err, store.ErrTypeFixed, "the row of the tenant is locked before anything is read")

	version, err := s.PutBrand(t.Context(), tenant, operator, &tenantsv1.Brand{Id: uuid.NewString(), Name: "n", Slug: "s"})
	require.NoError(t, err)
	require.EqualValues(t, 3, version, "it continues from the previous change")
}

func TestOnlyAVersionThatWasNotReachedMakesVersionsSkip(t *testing.T) {
	t.Parallel()
	s, pool, behind := setup(t)
	reached := uuid.NewString()
	_, version, err := s.PutTenant(t.Context(), operator, &tenantsv1.Tenant{
		Id: reached, Name: "n", Locales: []string{"en-US"}, Currency: "EUR",
	}, true, "")
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
	skipped := pgtest.Value[int64](t, pool, "SELECT version FROM tenants WHERE id = $1", reached)
	passed := pgtest.Value[int64](t, pool, "SELECT version FROM tenants WHERE id = $1", behind)
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

func TestAMemberWhoIsDeactivatedMeanwhileCannotAct(t *testing.T) {
	t.Parallel()
	s, pool, tenant := setup(t)
	ann := &tenantsv1.TeamMember{
		Id: uuid.NewString(), Name: "n", Email: "ann@example.com", Role: tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR, Active: true,
	}
	_, err := s.PutTeamMember(t.Context(), tenant, operator, ann)
	require.NoError(t, err)
	by := store.Authorization{
		Actor: &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_TENANT_ACCOUNT, Id: ann.GetId()},
		Needs: caller.Permission{Team: []tenantsv1.TeamRole{tenantsv1.TeamRole_TEAM_ROLE_ADMINISTRATOR}},
	}
	put := func(slug string) error {
		_, err := s.PutBrand(t.Context(), tenant, by, &tenantsv1.Brand{Id: uuid.NewString(), Name: "n", Slug: slug})
		return err
	}
	require.NoError(t, put("before"))
	err = afterAnother(t, pool, func() error { return put("after") },
		`UPDATE team_members SET active = false WHERE tenant_id = $1 AND id = $2`, tenant, ann.GetId())
	require.ErrorIs(t, err, store.ErrNotFound)
	brands, err := s.Brands(t.Context(), tenant, true, []string{})
	require.NoError(t, err)
	require.Len(t, brands, 1)
}

func TestTheAuditIsAppendOnlyForAYear(t *testing.T) {
	t.Parallel()
	s, pool, tenant := setup(t)
	const year = 366 * 24 * time.Hour
	for _, slug := range []string{"a", "b"} { // The third entry is the tenant's.
		_, err := s.PutBrand(t.Context(), tenant, operator, &tenantsv1.Brand{Id: uuid.NewString(), Name: "n", Slug: slug})
		require.NoError(t, err)
	}
	for _, sql := range []string{`UPDATE tenant_audit SET actor_id = 'x'`, `DELETE FROM tenant_audit`, `TRUNCATE tenant_audit`} {
		_, err := pool.Exec(t.Context(), sql)
		require.ErrorContains(t, err, "append-only", sql)
	}
	deleted, err := s.Delete(t.Context(), store.OldAudit, year, 1)
	require.NoError(t, err)
	require.Zero(t, deleted)
	pgtest.Exec(t, pool, `ALTER TABLE tenant_audit DISABLE TRIGGER USER;
UPDATE tenant_audit SET at = at - interval '367 days' WHERE id <> (SELECT id FROM tenant_audit ORDER BY id DESC LIMIT 1);
ALTER TABLE tenant_audit ENABLE TRIGGER USER`)
	for _, want := range []int{1, 1, 0} {
		deleted, err := s.Delete(t.Context(), store.OldAudit, year, 1)
		require.NoError(t, err)
		require.Equal(t, want, deleted)
	}
	require.Equal(t, 1, pgtest.Value[int](t, pool, `SELECT count(*) FROM tenant_audit`))
}

func TestEveryTableOfTenantsIsErased(t *testing.T) {
	t.Parallel()
	tenantstest.Check(t, store.TenantData(nil), func(t *testing.T, db postgres.Querier, tenantID string, keyID int32) {
		exec := func(sql string, args ...any) { pgtest.Exec(t, db, sql, append([]any{tenantID}, args...)...) }
		exec(`INSERT INTO tenants (id, name, locales, currency, approval_required, api_access)
		  VALUES ($1, 'same', '{en-US}', 'EUR', false, true)`)
		exec(`INSERT INTO brands (tenant_id, id, name, slug) VALUES ($1, $2, 'same', 'same')`, uuid.NewString())
		exec(`WITH b AS (INSERT INTO brands (tenant_id, id, name, slug) VALUES ($1, $2, 'site', 'site') RETURNING id)
		  INSERT INTO gift_sites (tenant_id, brand_id, typeface, corners, colour_scheme) SELECT $1, id, 'SERIF', 'SOFT', 'AUTO' FROM b`,
			uuid.NewString())
		exec(`INSERT INTO team_members (tenant_id, id, name, email, role, active)
		  VALUES ($1, $2, 'same', 'same@example.com', 'MEMBER', true)`, uuid.NewString())
		exec(`INSERT INTO custom_fields (tenant_id, id, label, type, required, options, position)
		  VALUES ($1, $2, 'same', 'TEXT', false, '{}', 1)`, uuid.NewString())
		exec(`INSERT INTO api_keys (tenant_id, hash, prefix, name, scopes, all_brands, brand_ids, webhook_secret)
		  VALUES ($1, sha256($2::text::bytea), 'p', 'same', '{}', true, '{}', 's')`, tenantID)
		exec(`INSERT INTO tenant_audit (id, tenant_id, actor_kind, actor_id, action, subject_id, detail)
		  VALUES (gen_random_uuid(), $1, 'SYSTEM', '', 'PUT_BRAND', 'b', '{}')`)
		exec(`INSERT INTO person_requests (tenant_id, id, action, subject_kind, subject_mac, actor_kind, actor_id,
		    link_ids, order_ids, completed_at)
		  VALUES ($1, gen_random_uuid(), 'EXPORT', 'ORDER', 'm', 'BACKOFFICE_ACCOUNT', 'a',
		    '{}', '{}', CASE WHEN NOT $2 THEN now() END)`, keyID == tenantstest.InFlight)
		exec(`INSERT INTO offboardings (tenant_id, state, erase_after, actor_kind, actor_id, api_access, key_ids)
		  VALUES ($1, 'DISABLED', now(), 'SYSTEM', '', true, '{}')`)
		exec(`INSERT INTO offboarding_tables (tenant_id, service, table_name, rows_before, kept) VALUES ($1, 'orders', 'orders', 1, '')`)
		exec(`INSERT INTO tenant_moves (tenant_id, source, target, step, actor_kind, actor_id, key_ids)
		  VALUES ($1, 'a', 'b', 'DONE', 'SYSTEM', '', '{}')`)
		exec(`INSERT INTO offboarding_steps (tenant_id, action, actor_kind, actor_id) VALUES ($1, 'REQUEST', 'SYSTEM', '')`)
		pgtest.Exec(t, db,
			`INSERT INTO idempotency_answers (key_id, idempotency_key, fingerprint, answer) VALUES ($1, 'k', 'f', 'a')`, keyID)
	}, store.Migrations(), daemon.RetentionClockMigrations(), idempotency.Migrations())
}
