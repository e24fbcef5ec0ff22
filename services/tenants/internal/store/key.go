package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/postgres"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

// Key is an API key without its hash and its sealed signing secret.
type Key struct {
	ID     int32
	Name   string
	Prefix string
	Scopes []commonv1.Scope
	// AllBrands false limits the key to BrandIDs, which may be empty.
	AllBrands  bool
	BrandIDs   []string
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

const (
	// The id must be known before the insert, because the signing secret is sealed for it.
	nextKeyID = `SELECT nextval(pg_get_serial_sequence('api_keys', 'id'))::int`

	insertKey = `INSERT INTO api_keys
  (tenant_id, id, hash, prefix, name, scopes, all_brands, brand_ids, webhook_url, webhook_secret)
OVERRIDING SYSTEM VALUE VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`

	selectUnknownBrands = `SELECT w.id FROM unnest($2::uuid[]) AS w (id)
WHERE NOT EXISTS (SELECT FROM brands b WHERE b.tenant_id = $1 AND b.id = w.id)`
)

// CreateKey stores a new key and returns it with its id. It fails with *UnknownBrandError for brands that
// the tenant does not have.
func (s *Store) CreateKey(ctx context.Context, tenantID string, by By, k Key, sec Secrets) (Key, int64, error) {
	version, err := s.change(ctx, tenantID, by, func(tx pgx.Tx) (bool, error) {
		if err := requireBrands(ctx, tx, tenantID, k.BrandIDs); err != nil {
			return false, err
		}
		if err := tx.QueryRow(ctx, nextKeyID).Scan(&k.ID); err != nil {
			return false, fmt.Errorf("next key id: %w", err)
		}
		_, err := tx.Exec(ctx, insertKey, tenantID, k.ID, sec.Hash, k.Prefix, k.Name, enumname.Strings(k.Scopes),
			k.AllBrands, list(k.BrandIDs), k.WebhookURL, sec.Seal(k.ID))
		if err != nil {
			return false, err
		}
		return true, act{by: by, action: tenantsv1.KeyAction_KEY_ACTION_CREATE, after: grantsOf(k)}.record(ctx, tx, tenantID, k.ID)
	})
	return k, version, err
}

func requireBrands(ctx context.Context, tx pgx.Tx, tenantID string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	rows, err := tx.Query(ctx, selectUnknownBrands, tenantID, ids)
	if err != nil {
		return fmt.Errorf("check brands: %w", err)
	}
	unknown, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("check brands: %w", err)
	}
	if len(unknown) > 0 {
		return &UnknownBrandError{IDs: unknown}
	}
	return nil
}

func scanKey(row pgx.CollectableRow) (Key, error) {
	var k Key
	var columns []string
	err := row.Scan(&k.ID, &k.Name, &k.Prefix, &columns, &k.AllBrands, &k.BrandIDs, &k.WebhookURL)
	k.Scopes = enumname.ParseAll[commonv1.Scope](columns)
	return k, err
}

const selectPrincipal = `SELECT k.tenant_id, k.id, k.name, k.scopes, k.all_brands, k.brand_ids, t.version
FROM api_keys k JOIN tenants t ON t.id = k.tenant_id
WHERE k.hash = $1 AND k.revoked_at IS NULL AND t.api_access`

// Resolve returns the principal of the key with the hash. It fails with ErrNotFound for a key that is
// unknown or revoked, and while the tenant's API access is off.
func (s *Store) Resolve(ctx context.Context, hash []byte) (caller.Principal, error) {
	rows, err := s.pool.Query(ctx, selectPrincipal, hash)
	if err != nil {
		return caller.Principal{}, fmt.Errorf("resolve key: %w", err)
	}
	p, err := pgx.CollectExactlyOneRow(rows, scanPrincipal)
	if err != nil {
		return caller.Principal{}, translate(fmt.Errorf("resolve key: %w", err))
	}
	return p, nil
}

func scanPrincipal(row pgx.CollectableRow) (caller.Principal, error) {
	var p caller.Principal
	var columns []string
	err := row.Scan(&p.TenantID, &p.KeyID, &p.KeyName, &columns, &p.AllBrands, &p.BrandIDs, &p.TenantVersion)
	p.Scopes = enumname.ParseAll[commonv1.Scope](columns)
	return p, err
}

const selectOwnKey = `SELECT k.id, k.name, k.prefix, k.scopes, k.all_brands, k.brand_ids, k.webhook_url
FROM api_keys k JOIN tenants t ON t.id = k.tenant_id
WHERE k.tenant_id = $1 AND k.id = $2 AND k.revoked_at IS NULL AND t.api_access`

// Me returns the tenant and one of its keys. It fails with ErrNotFound for a revoked key, and while the
// tenant's API access is off.
func (s *Store) Me(ctx context.Context, tenantID string, keyID int32) (*tenantsv1.Tenant, Key, error) {
	t := &tenantsv1.Tenant{}
	var version int64
	var keys []Key
	err := postgres.Pipeline(ctx, s.pool, func(b *pgx.Batch) {
		b.Queue(oneSnapshot)
		b.Queue(selectOwnKey, tenantID, keyID).Query(collect(&keys, scanKey))
		b.Queue(selectTenant, tenantID).QueryRow(scanTenant(t, &version))
		b.Queue(selectFields, tenantID).Query(collect(&t.CustomFields, scanField))
	})
	if err != nil {
		return nil, Key{}, translate(fmt.Errorf("read own key: %w", err))
	}
	if len(keys) != 1 {
		return nil, Key{}, ErrNotFound
	}
	return t, keys[0], nil
}
