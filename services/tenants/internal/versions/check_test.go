package versions

import (
	"bytes"
	"log/slog"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry"
	"github.com/partnergifting/platform/pkg/tenants"
	"github.com/partnergifting/platform/pkg/testenv"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	"github.com/partnergifting/platform/services/tenants/internal/rules"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

var operator = store.Authorization{
	Actor: &commonv1.Actor{Kind: commonv1.ActorKind_ACTOR_KIND_BACKOFFICE_ACCOUNT, Id: "staff-7"},
	Needs: caller.Permission{Operator: true},
}

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
	pgtest.Exec(t, f.pool, `INSERT INTO tenants (id, name, locales, currency, approval_required, api_access)
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

// check runs a check and returns what it logged.
func (f *checkFixture) check(t *testing.T) string {
	t.Helper()
	var log bytes.Buffer
	c, err := newChecker(store.New(f.pool), f.published, logTo(&log))
	require.NoError(t, err)
	require.NoError(t, c.check(t.Context()))
	return log.String()
}

func logTo(log *bytes.Buffer) *telemetry.Telemetry {
	tel := telemetry.Discard()
	tel.Logger = slog.New(slog.NewTextHandler(log, nil))
	return tel
}

// version is the published version of the tenant.
func (f *checkFixture) version(t *testing.T) int64 {
	t.Helper()
	versions, err := f.published.published(t.Context(), []store.TenantVersion{{TenantID: f.tenant}})
	require.NoError(t, err)
	return versions[0]
}

// nextKey takes an id of a key.
func (f *checkFixture) nextKey(t *testing.T) int64 {
	t.Helper()
	return pgtest.Value[int64](t, f.pool, "SELECT nextval('api_keys_id_seq')")
}

// change makes changes after a backup: the edges see the version, and a key has its id.
func (f *checkFixture) change(t *testing.T) (version, key int64) {
	t.Helper()
	pgtest.Exec(t, f.pool, "UPDATE tenants SET version = version + 7")
	require.NoError(t, f.published.PublishOnce(t.Context(), f.tenant, 8))
	key = f.nextKey(t)
	require.Empty(t, f.check(t))
	return f.version(t), key
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
	tenants := store.New(f.pool)
	_, err := Check(tenants, f.published, logTo(&log))
	require.NoError(t, err)
	shop := store.Key{Prefix: "gk", Grants: rules.Grants{Name: "Shop", AllBrands: true}}
	key, got, err := tenants.CreateKey(t.Context(), f.tenant, operator, shop,
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
	pgtest.Exec(t, f.pool, "UPDATE tenants SET version = 1")
	pgtest.Exec(t, f.pool, "SELECT setval('api_keys_id_seq', 1)")
	require.Contains(t, f.check(t), "the database was restored")
	require.Empty(t, f.check(t), "once")
	require.Greater(t, f.version(t), version)
	require.Greater(t, f.nextKey(t), key)
}

// Whoever restores a backup may do it again, to another time or because something went wrong.
func TestTwoRestoresOfOneBackupHandOutDifferentVersionsAndKeys(t *testing.T) {
	t.Parallel()
	f := newCheckFixture(t)
	f.pool.Close()
	restore := pgtest.Backup(t, f.url)
	versions, keys := map[int64]bool{}, map[int64]bool{}
	for range 2 {
		restore()
		f.open(t)
		require.NoError(t, f.published.client.Del(t.Context(), tenants.VersionKey(f.tenant)).Err())
		require.Contains(t, f.check(t), "the database was restored")
		require.Empty(t, f.check(t), "once")
		versions[f.version(t)], keys[f.nextKey(t)] = true, true
		f.pool.Close()
		<-time.After(1100 * time.Millisecond) // Ids of keys skip to the second.
	}
	require.Len(t, versions, 2)
	require.Len(t, keys, 2)
}

func TestAServerThatWasRestartedMayHaveBeenSetBackWithoutRedisToTell(t *testing.T) {
	t.Parallel()
	f := newCheckFixture(t)
	version, key := f.change(t)
	pgtest.Exec(t, f.pool, "UPDATE tenants SET version = 1")
	pgtest.Exec(t, f.pool, "SELECT setval('api_keys_id_seq', 1)")
	pgtest.Exec(t, f.pool, "UPDATE database_server SET started = 'before'") // It cannot be restarted here.
	redis := f.published
	f.published = &Publisher{log: slog.New(slog.DiscardHandler)}
	require.Contains(t, f.check(t), "restarted")
	require.Empty(t, f.check(t), "once")
	require.Greater(t, pgtest.Value[int64](t, f.pool, "SELECT version FROM tenants"), version)
	require.Greater(t, f.nextKey(t), key)
	f.published = redis
}

func TestAVersionThatIsAheadIsPassedAtOnce(t *testing.T) {
	t.Parallel()
	f := newCheckFixture(t)
	ahead := time.Now().Add(time.Hour).UnixMicro()
	require.NoError(t, f.published.PublishOnce(t.Context(), f.tenant, ahead))
	require.Contains(t, f.check(t), "set back")
	key := f.nextKey(t)
	require.Empty(t, f.check(t), "once")
	require.Greater(t, f.version(t), ahead)
	require.Equal(t, key+1, f.nextKey(t))
}

func TestAVersionThatCannotBeIsDeleted(t *testing.T) {
	t.Parallel()
	f := newCheckFixture(t)
	for _, wrong := range []string{"9223372036854775807", "9223372036854775808", "9000000000000000", "nan", "inf", "x", ""} {
		key := f.nextKey(t)
		require.NoError(t, f.published.client.Set(t.Context(), tenants.VersionKey(f.tenant), wrong, 0).Err())
		require.Contains(t, f.check(t), "no tenant can have", wrong)
		require.Zero(t, f.version(t), "the one that the check has read may be older than one that is published meanwhile")
		require.Empty(t, f.check(t))
		require.Equal(t, int64(1), f.version(t))
		require.Equal(t, key+1, f.nextKey(t), "nothing skips")
	}
}

func TestVersionsThatRedisHasLostArePublishedAgain(t *testing.T) {
	t.Parallel()
	f := newCheckFixture(t)
	version, _ := f.change(t)
	require.NoError(t, f.published.client.Del(t.Context(), tenants.VersionKey(f.tenant)).Err())
	require.Empty(t, f.check(t))
	require.Equal(t, version, f.version(t))
}
