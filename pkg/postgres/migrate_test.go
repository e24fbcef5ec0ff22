package postgres_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/url"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/postgres/pgtest"
	"github.com/partnergifting/platform/pkg/telemetry/telemetrytest"
)

// twoFiles are migrations; the second needs the table alone.
func twoFiles() postgres.Migrations {
	return postgres.Migrations{Owner: "example", Files: fstest.MapFS{
		"00001_a.sql": {Data: []byte("-- +goose Up\nCREATE TABLE a (id int);\n")},
		"00002_b.sql": {Data: []byte("-- +goose Up\nALTER TABLE a ADD COLUMN b int;\n")},
	}}
}

func onlyFirst() postgres.Migrations {
	m := twoFiles()
	delete(m.Files.(fstest.MapFS), "00002_b.sql")
	return m
}

func TestMigrateSaysWhatItDid(t *testing.T) {
	t.Parallel()
	cfg := postgres.Config{URL: pgtest.NewURL(t)}
	var out telemetrytest.Log
	require.NoError(t, postgres.Migrate(t.Context(), cfg, &out, onlyFirst()))
	require.Regexp(t, `^example: 00001_a\.sql took [0-9.mµ]*s\nexample: from version 0 to 1\n$`, out.String())
	out = telemetrytest.Log{}
	other := postgres.Migrations{Owner: "other", Files: fstest.MapFS{}}
	require.NoError(t, postgres.Migrate(t.Context(), cfg, &out, twoFiles(), other))
	const second = `^example: 00002_b\.sql took [0-9.mµ]*s\nexample: from version 1 to 2\nother: nothing to do at version 0\n$`
	require.Regexp(t, second, out.String())
	out = telemetrytest.Log{}
	require.NoError(t, postgres.Migrate(t.Context(), cfg, &out, twoFiles()))
	require.Equal(t, "example: nothing to do at version 2\n", out.String())
	out = telemetrytest.Log{}
	require.NoError(t, postgres.Migrate(t.Context(), cfg, &out, onlyFirst()), "the release before, after going back")
	require.Equal(t, "example: nothing to do at version 2\n", out.String())
}

// locked is a database whose table a is locked until the test releases it.
func locked(t *testing.T) (cfg postgres.Config, release func()) {
	t.Helper()
	cfg = postgres.Config{URL: pgtest.NewURL(t), LockTimeout: 20 * time.Millisecond}
	require.NoError(t, postgres.Migrate(t.Context(), cfg, io.Discard, onlyFirst()))
	conn, err := pgx.Connect(t.Context(), cfg.URL)
	require.NoError(t, err)
	tx, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), "LOCK TABLE a IN ACCESS SHARE MODE")
	require.NoError(t, err)
	release = sync.OnceFunc(func() { _ = conn.Close(t.Context()) })
	t.Cleanup(release)
	return cfg, release
}

func TestAMigrationThatWaitsForALockLetsOthersPassAndTriesAgain(t *testing.T) {
	t.Parallel()
	cfg, release := locked(t)
	var out telemetrytest.Log
	done := make(chan error, 1)
	go func() { done <- postgres.Migrate(t.Context(), cfg, &out, twoFiles()) }()
	require.Eventually(t, func() bool {
		return bytes.Contains([]byte(out.String()), []byte("00002_b.sql waited 20ms for a lock; attempt 2 of 10 follows"))
	}, 30*time.Second, time.Millisecond)
	release()
	require.NoError(t, <-done)
	require.Contains(t, out.String(), "example: from version 1 to 2")
}

func TestAMigrationThatNeverGetsItsLockEndsWithAClearError(t *testing.T) {
	t.Parallel()
	cfg, _ := locked(t)
	err := postgres.Migrate(t.Context(), cfg, io.Discard, twoFiles())
	require.ErrorContains(t, err, "00002_b.sql: another transaction holds a lock that it needs")
	require.ErrorContains(t, err, "GIFTING_DATABASE_LOCK_TIMEOUT")
}

func TestAMigrationThatEndsADeadlockTriesAgain(t *testing.T) {
	t.Parallel()
	const firstFails = "-- +goose StatementBegin\n" +
		"DO $$ BEGIN IF nextval('attempts') = 1 THEN RAISE deadlock_detected; END IF; END $$;\n-- +goose StatementEnd\n"
	migrate := func(t *testing.T, second string) (string, error) {
		t.Helper()
		var out bytes.Buffer
		err := postgres.Migrate(t.Context(), postgres.Config{URL: pgtest.NewURL(t), LockTimeout: 20 * time.Millisecond}, &out,
			postgres.Migrations{Owner: "example", Files: fstest.MapFS{
				"00001_a.sql": {Data: []byte("-- +goose Up\nCREATE SEQUENCE attempts;\n")}, "00002_b.sql": {Data: []byte(second)},
			}})
		return out.String(), err
	}
	out, err := migrate(t, "-- +goose Up\n"+firstFails)
	require.NoError(t, err)
	require.Contains(t, out, "00002_b.sql was ended because of a deadlock; attempt 2 of 10 follows")

	t.Run("unless a part of it may have been committed", func(t *testing.T) {
		_, err := migrate(t, "-- +goose NO TRANSACTION\n-- +goose Up\n"+firstFails)
		require.ErrorContains(t, err, "40P01")
	})
}

// login makes a login that may create in the schema, and returns its name and the configuration of the database with it.
func login(t *testing.T, conn *pgx.Conn, database string) (name string, cfg postgres.Config) {
	t.Helper()
	name = "login_" + conn.Config().Database
	ctx := context.WithoutCancel(t.Context())
	for _, statement := range []string{"CREATE ROLE " + name + " LOGIN PASSWORD 'x'", "GRANT CREATE ON SCHEMA public TO " + name} {
		_, err := conn.Exec(ctx, statement)
		require.NoError(t, err)
	}
	t.Cleanup(func() {
		for _, statement := range []string{
			"REASSIGN OWNED BY " + name + " TO CURRENT_USER", "DROP OWNED BY " + name, "DROP ROLE " + name,
		} {
			_, err := conn.Exec(ctx, statement)
			require.NoError(t, err)
		}
	})
	u, err := url.Parse(database)
	require.NoError(t, err)
	u.User = url.UserPassword(name, "x")
	return name, postgres.Config{URL: u.String()}
}

// administer connects to the database until the test ends.
func administer(t *testing.T, database string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

func TestAMigrationWithoutPermissionNamesTheRoleItNeeds(t *testing.T) {
	t.Parallel()
	database := pgtest.NewURL(t)
	require.NoError(t, postgres.Migrate(t.Context(), postgres.Config{URL: database}, io.Discard, onlyFirst()))
	name, cfg := login(t, administer(t, database), database)
	err := postgres.Migrate(t.Context(), cfg, io.Discard, twoFiles())
	require.ErrorContains(t, err, fmt.Sprintf(`the login %q acts as %q, but this needs the role "postgres"`, name, name))
}
