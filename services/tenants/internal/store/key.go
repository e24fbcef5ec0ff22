package store

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/postgres"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
)

// Key is an API key without its hash and its sealed signing secret.
type Key struct {
	rules.Grants

	ID         int32
	Prefix     string
	WebhookURL *string
}

// Proto is the key as it is returned.
func (k Key) Proto() *tenantsv1.Key {
	out := &tenantsv1.Key{Id: k.ID, Name: k.Name, Prefix: k.Prefix, Scopes: k.Scopes, WebhookUrl: k.WebhookURL}
	if !k.AllBrands {
		out.BrandIds = &tenantsv1.BrandIds{Ids: k.BrandIDs}
	}
	return out
}

// Secrets of a new key in their stored form.
type Secrets struct {
	// Hash of the whole key.
	Hash []byte
	// Seal seals the signing secret for the id of the new key.
	Seal func(keyID int32) []byte
}

// UnknownBrandError names brands that the tenant does not have.
type UnknownBrandError struct{ IDs []string }

// Error implements error.
func (e *UnknownBrandError) Error() string { return fmt.Sprintf("not brands of the tenant: %v", e.IDs) }

// keyRow is a row of the keys.
type keyRow struct {
	Key

	tenantID             string
	scopes               []string
	hash, secret         []byte
	createdAt, revokedAt *timestamppb.Timestamp
}

var keys = postgres.Columns[keyRow]{
	postgres.Field("tenant_id", written, func(r *keyRow) *string { return &r.tenantID }),
	postgres.Field("id", written|shown, func(r *keyRow) *int32 { return &r.ID }),
	postgres.Field("hash", written, func(r *keyRow) *[]byte { return &r.hash }),
	postgres.Field("prefix", written|shown, func(r *keyRow) *string { return &r.Prefix }),
	postgres.Field("name", written|shown, func(r *keyRow) *string { return &r.Name }),
	postgres.Field("scopes", written|shown, func(r *keyRow) *[]string { return &r.scopes }),
	postgres.Field("all_brands", written|shown, func(r *keyRow) *bool { return &r.AllBrands }),
	postgres.Field("brand_ids", written|shown, func(r *keyRow) *[]string { return &r.BrandIDs }),
	postgres.Field("webhook_url", written|shown, func(r *keyRow) **string { return &r.WebhookURL }),
	postgres.Field("webhook_secret", written, func(r *keyRow) *[]byte { return &r.secret }),
	postgres.TimeField("created_at", inRecord, func(r *keyRow) **timestamppb.Timestamp { return &r.createdAt }),
	postgres.TimeField("revoked_at", inRecord, func(r *keyRow) **timestamppb.Timestamp { return &r.revokedAt }),
}

var (
	insertKey = strings.Replace(keys.For(written).Insert("api_keys"), ") VALUES", ") OVERRIDING SYSTEM VALUE VALUES", 1)

	selectKeys = `SELECT ` + keys.For(shown).Select() + ` FROM api_keys `

	selectKey = selectKeys + `WHERE id = $1 AND revoked_at IS NULL`

	selectOwnKey = selectKeys + `WHERE tenant_id = $1 AND id = $2 AND revoked_at IS NULL
  AND EXISTS (SELECT FROM tenants t WHERE t.id = $1 AND t.api_access)`
)

const (
	// The id must be known before the insert, because the signing secret is sealed for it.
	nextKeyID = `SELECT nextval(pg_get_serial_sequence('api_keys', 'id'))::int`

	selectUnknownBrands = `SELECT w.id FROM unnest($2::uuid[]) AS w (id)
WHERE NOT EXISTS (SELECT FROM brands b WHERE b.tenant_id = $1 AND b.id = w.id)`
)

// CreateKey stores a new key and returns it with its id. It fails with *UnknownBrandError for brands that
// the tenant does not have.
func (s *Store) CreateKey(ctx context.Context, tenantID string, by Authorization, k Key, sec Secrets) (Key, int64, error) {
	version, err := s.change(ctx, tenantID, by, func(tx pgx.Tx) (bool, error) {
		if err := requireNot(ctx, tx, isSwitching, tenantID); err != nil {
			return false, err
		}
		if err := requireBrands(ctx, tx, tenantID, k.BrandIDs); err != nil {
			return false, err
		}
		if err := tx.QueryRow(ctx, nextKeyID).Scan(&k.ID); err != nil {
			return false, fmt.Errorf("next key id: %w", err)
		}
		row := &keyRow{Key: k, tenantID: tenantID, scopes: enumname.Strings(k.Scopes), hash: sec.Hash, secret: sec.Seal(k.ID)}
		row.BrandIDs = list(k.BrandIDs)
		if _, err := postgres.Exec(ctx, tx, "insert key", insertKey, keys.For(written).Args(row)...); err != nil {
			return false, err
		}
		a := auditedChange{by: by, action: tenantsv1.TenantAction_TENANT_ACTION_KEY_CREATE, after: grantsOf(k)}
		return true, a.record(ctx, tx, tenantID, strconv.Itoa(int(k.ID)))
	})
	return k, version, err
}

func requireBrands(ctx context.Context, tx pgx.Tx, tenantID string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	unknown, err := postgres.Select(ctx, tx, "check brands", pgx.RowTo[string], selectUnknownBrands, tenantID, ids)
	if err == nil && len(unknown) > 0 {
		return &UnknownBrandError{IDs: unknown}
	}
	return err
}

func scanKey(row pgx.CollectableRow) (Key, error) {
	r := &keyRow{}
	err := row.Scan(keys.For(shown).Targets(r)...)
	r.Scopes = enumname.ParseAll[commonv1.Scope](r.scopes)
	return r.Key, err
}

const selectPrincipal = `SELECT k.tenant_id, k.id, k.name, k.scopes, k.all_brands, k.brand_ids, t.version, t.cell,
  ` + tenantSwitches + `
FROM api_keys k JOIN tenants t ON t.id = k.tenant_id
WHERE k.hash = $1 AND k.revoked_at IS NULL AND t.api_access`

// Resolve returns the principal of the key with the hash. It fails with ErrNotFound for a key that is
// unknown or revoked, and while the tenant's API access is off.
func (s *Store) Resolve(ctx context.Context, hash []byte) (caller.Principal, error) {
	return postgres.SelectOne(ctx, s.pool, "resolve key", ErrNotFound, scanPrincipal, selectPrincipal, hash)
}

func scanPrincipal(row pgx.CollectableRow) (caller.Principal, error) {
	var p caller.Principal
	var columns []string
	err := row.Scan(&p.TenantID, &p.KeyID, &p.KeyName, &columns, &p.AllBrands, &p.BrandIDs, &p.TenantVersion, &p.Cell, &p.Moving)
	p.Scopes = enumname.ParseAll[commonv1.Scope](columns)
	return p, err
}

// Me returns the tenant and one of its keys. It fails with ErrNotFound for a revoked key, and while the
// tenant's API access is off.
func (s *Store) Me(ctx context.Context, tenantID string, keyID int32) (*tenantsv1.Tenant, Key, error) {
	tenant := tenantSettings.blank()
	var own []Key
	err := postgres.Pipeline(ctx, s.pool, func(b *pgx.Batch) {
		b.Queue(oneSnapshot)
		postgres.QueueSelect(b, &own, scanKey, selectOwnKey, tenantID, keyID)
		tenant.queue(b, tenantID)
	})
	if err != nil {
		return nil, Key{}, translate(fmt.Errorf("read own key: %w", err))
	}
	if len(own) != 1 {
		return nil, Key{}, ErrNotFound
	}
	return tenant.Tenant, own[0], nil
}
