package versions

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/testenv"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// checkFixture is a database with one tenant, whose version is published.
type checkFixture struct {
	url       string
	pool      *pgxpool.Pool
	published *Publisher
	tenant    string
}

func newCheckFixture(t *testing.T) *checkFixture {
	t.Helper()
	f := &checkFixture{url: pgtest.NewURL(t, store.Migrations()), tenant: uuid.NewString()}
	var err error
	f.published, err = Open(testenv.Require(t, testenv.RedisURL), telemetry.Discard())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.published.Close()) })
	f.open(t)
	f.exec(t, `INSERT INTO tenants (id, name, locales, currency, approval_required, api_access)
VALUES ('`+f.tenant+`', 'Nordic Play', '{en-US}', 'EUR', false, true)`)
	require.Empty(t, f.check(t), "the first look")
	require.Equal(t, int64(1), f.version(t))
	return f
}

func (f *checkFixture) open(t *testing.T) {
	t.Helper()
	pool, err := postgres.Open(t.Context(), postgres.Config{URL: f.url, MaxConns: 4})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	f.pool = pool
}

func (f *checkFixture) exec(t *testing.T, sql string) {
	t.Helper()
	_, err := f.pool.Exec(t.Context(), sql)
	require.NoError(t, err)
}

// check runs a check and returns what it logged.
func (f *checkFixture) check(t *testing.T) string {
	t.Helper()
	var log bytes.Buffer
	require.NoError(t, check(t.Context(), store.New(f.pool), f.published, slog.New(slog.NewTextHandler(&log, nil))))
	return log.String()
}

// version is the published version of the tenant.
func (f *checkFixture) version(t *testing.T) int64 {
	t.Helper()
	versions, err := f.published.published(t.Context(), []store.TenantVersion{{TenantID: f.tenant}})
	require.NoError(t, err)
	return versions[0]
}

// nextKey takes an id of a key.
func (f *checkFixture) nextKey(t *testing.T) (id int64) {
	t.Helper()
	require.NoError(t, f.pool.QueryRow(t.Context(), "SELECT nextval('api_keys_id_seq')").Scan(&id))
	return id
}

// change makes changes after a backup: the edges see the version, and a key has its id.
func (f *checkFixture) change(t *testing.T) (version, key int64) {
	t.Helper()
	f.exec(t, "UPDATE tenants SET version = version + 7")
	f.published.Publish(t.Context(), f.tenant, 8)
	key = f.nextKey(t)
	require.Empty(t, f.check(t))
	return f.version(t), key
}

func TestAfterARestoreVersionsAndKeysAreNeverHandedOutAgain(t *testing.T) {
	t.Parallel()
	f := newCheckFixture(t)
	f.pool.Close()
	restore := pgtest.Backup(t, f.url)
	f.open(t)
	version, key := f.change(t)
	f.pool.Close()
	restore()
	f.open(t)
	require.Contains(t, f.check(t), "the database was restored")
	require.Greater(t, f.version(t), version, "the edges look every tenant up again")
	require.Greater(t, f.nextKey(t), key)
	require.Empty(t, f.check(t), "once")
}

func TestTheFirstChangesAfterARestoreRepeatNoVersionAndNoKeyID(t *testing.T) {
	t.Parallel()
	f := newCheckFixture(t)
	f.pool.Close()
	restore := pgtest.Backup(t, f.url)
	f.open(t)
	version, lost := f.change(t)
	f.pool.Close()
	restore()
	f.open(t)
	var log bytes.Buffer
	tel := telemetry.Discard()
	tel.Logger = slog.New(slog.NewTextHandler(&log, nil))
	tenants := store.New(f.pool)
	Check(tenants, f.published, tel)
	key, got, err := tenants.CreateKey(t.Context(), f.tenant, store.Key{Name: "Shop", Prefix: "gk", AllBrands: true},
		store.Secrets{Hash: make([]byte, 32), Seal: func(int32) []byte { return []byte{1} }})
	require.NoError(t, err)
	require.Greater(t, int64(key.ID), lost, "before the next check")
	require.Greater(t, got, version)
	require.Contains(t, log.String(), "the database was restored")
}

func TestAServerWhoseDiskWasSetBackIsFoundByThePublishedVersions(t *testing.T) {
	t.Parallel()
	f := newCheckFixture(t)
	version, key := f.change(t)
	f.exec(t, "UPDATE tenants SET version = 1")
	f.exec(t, "SELECT setval('api_keys_id_seq', 1)")
	require.Contains(t, f.check(t), "the database was restored")
	require.Empty(t, f.check(t), "once")
	require.Greater(t, f.version(t), version)
	require.Greater(t, f.nextKey(t), key)
}

func TestVersionsThatRedisHasLostArePublishedAgain(t *testing.T) {
	t.Parallel()
	f := newCheckFixture(t)
	version, _ := f.change(t)
	require.NoError(t, f.published.client.Del(t.Context(), Key(f.tenant)).Err())
	require.Empty(t, f.check(t))
	require.Equal(t, version, f.version(t))
}
