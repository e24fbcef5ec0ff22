package events

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

// cursorAt returns the cursor after the first n events.
func (f *fixture) cursorAt(t *testing.T, n int32) *string {
	t.Helper()
	page, err := f.client.ListEvents(f.keyContext(t), &eventsv1.ListEventsRequest{Limit: &n})
	require.NoError(t, err)
	return page.NextCursor
}

// eventsAfter reads the events after a cursor, which must be accepted.
func (f *fixture) eventsAfter(t *testing.T, cursor *string) []string {
	t.Helper()
	var ids []string
	for {
		page, err := f.client.ListEvents(f.keyContext(t), &eventsv1.ListEventsRequest{After: cursor})
		require.NoError(t, err)
		if len(page.GetItems()) == 0 {
			return ids
		}
		for _, e := range page.GetItems() {
			ids = append(ids, e.GetId())
		}
		cursor = page.NextCursor
	}
}

func (f *fixture) requireRefused(t *testing.T, cursor *string) {
	t.Helper()
	_, err := f.client.ListEvents(f.keyContext(t), &eventsv1.ListEventsRequest{After: cursor})
	require.Equal(t, codes.InvalidArgument, status.Code(err), "%v", err)
}

func TestADatabaseThatWasRestored(t *testing.T) {
	t.Parallel()
	f := setup(t)
	stop := f.start(t)
	want := f.addEvents(t, 40)
	f.requireFeed(t, want)
	stop()
	restore := pgtest.Backup(t, f.cfg.Database.URL)

	stop = f.start(t)
	want = append(want, f.addEvents(t, 30)...)
	f.requireFeed(t, want)
	survived, lost := f.cursorAt(t, 35), f.cursorAt(t, 60)
	stop()
	restore()

	stop = f.start(t)
	defer func() { stop() }()
	want = append(want, f.addEvents(t, 20)...)
	f.requireFeed(t, want)
	require.Equal(t, want[35:], f.eventsAfter(t, survived), "a cursor at what survived is good")
	f.requireRefused(t, lost)
	again := f.cursorAt(t, 60)
	require.Equal(t, want[60:], f.eventsAfter(t, again))

	// A second restore of the same backup begins another epoch, although with the same number.
	stop()
	restore()
	stop = f.start(t)
	want = append(want, f.addEvents(t, 20)...)
	f.requireFeed(t, want)
	f.requireRefused(t, again)
	require.Equal(t, want[35:], f.eventsAfter(t, survived))
}

// A volume that was set back keeps the server's identity: only the consumer can tell.
func TestAVolumeThatWasSetBackWhileTheServiceRuns(t *testing.T) {
	t.Parallel()
	f := setup(t)
	defer f.start(t)()
	want := f.addEvents(t, 40)
	f.requireFeed(t, want)
	pool, err := postgres.Open(t.Context(), postgres.Config{URL: f.cfg.Database.URL, MaxConns: 2})
	require.NoError(t, err)
	defer pool.Close()
	exec := func(sql ...string) {
		require.NoError(t, postgres.InTx(t.Context(), pool, func(tx pgx.Tx) error {
			for _, s := range sql {
				if _, err := tx.Exec(t.Context(), s); err != nil {
					return err
				}
			}
			return nil
		}))
	}
	exec("CREATE SCHEMA backup",
		"CREATE TABLE backup.feed AS TABLE feed", "CREATE TABLE backup.feed_writers AS TABLE feed_writers",
		"CREATE TABLE backup.feed_tenants AS TABLE feed_tenants",
		"CREATE TABLE backup.feed_position AS SELECT last_value FROM feed_position")
	want = append(want, f.addEvents(t, 30)...)
	f.requireFeed(t, want)
	survived, lost := f.cursorAt(t, 35), f.cursorAt(t, 60)

	exec("LOCK TABLE feed_writers IN EXCLUSIVE MODE", "DELETE FROM feed", "DELETE FROM feed_writers", "DELETE FROM feed_tenants",
		"INSERT INTO feed SELECT * FROM backup.feed", "INSERT INTO feed_writers SELECT * FROM backup.feed_writers",
		"INSERT INTO feed_tenants SELECT * FROM backup.feed_tenants",
		"SELECT setval('feed_position', last_value) FROM backup.feed_position")
	want = append(want, f.addEvents(t, 20)...)
	f.requireFeed(t, want)
	require.Equal(t, want[35:], f.eventsAfter(t, survived))
	f.requireRefused(t, lost)
}

// Without the offsets of the group nobody knows what was read. But a volume is set back only while its server does not run, so the
// backup has another start of the server.
func TestAVolumeAndAGroupThatWereSetBack(t *testing.T) {
	t.Parallel()
	f := setup(t)
	stop := f.start(t)
	want := f.addEvents(t, 40)
	f.requireFeed(t, want)
	stop()
	exec := func(sql ...string) {
		conn, err := pgx.Connect(t.Context(), f.cfg.Database.URL)
		require.NoError(t, err)
		defer func() { require.NoError(t, conn.Close(t.Context())) }()
		for _, s := range sql {
			pgtest.Exec(t, conn, s)
		}
	}
	tables := []string{"feed", "feed_writers", "feed_tenants", "feed_epochs"}
	exec("CREATE SCHEMA backup", "CREATE TABLE backup.feed_position AS SELECT last_value FROM feed_position")
	for _, table := range tables {
		exec("CREATE TABLE backup." + table + " AS TABLE " + table)
	}
	stop = f.start(t)
	want = append(want, f.addEvents(t, 30)...)
	f.requireFeed(t, want)
	survived, lost := f.cursorAt(t, 35), f.cursorAt(t, 60)
	stop()
	for _, table := range tables {
		exec("DELETE FROM "+table, "INSERT INTO "+table+" SELECT * FROM backup."+table)
	}
	exec("SELECT setval('feed_position', last_value) FROM backup.feed_position",
		`UPDATE feed_epochs SET server = regexp_replace(server, '^([^/]*/[^/]*/[^/]*)/.*$', '\1/the start before')`)
	f.cfg.KafkaGroup += "-lost"

	defer f.start(t)()
	want = append(want, f.addEvents(t, 20)...)
	f.requireFeed(t, want)
	require.Equal(t, want[35:], f.eventsAfter(t, survived))
	f.requireRefused(t, lost)
}
