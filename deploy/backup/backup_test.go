// Package backup_test runs the script of this folder on a PostgreSQL server.
package backup_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/local/deps"
	"github.com/partnergifting/platform/pkg/identity"
)

const kept = "SELECT name FROM kept ORDER BY created_at"

func TestABackup(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.write(t, "before the backup")
	f.mustRun(t, "base")
	f.mustRun(t, "dump")
	f.write(t, "after the backup")
	between := f.nextSecond(t)
	f.write(t, "too late")
	for range 3 {
		f.archiveAll(t)
	}

	t.Run("is restored to a point in time", func(t *testing.T) {
		f.makeDir(t, filepath.Join(f.dir, "earlier"))
		f.mustRun(t, "restore", filepath.Join(f.dir, "earlier", "data"), between)
		server := f.startServer(t, filepath.Join(f.dir, "earlier"))
		requireRecovered(t, server, "before the backup after the backup")
	})

	t.Run("is restored to the newest archived change", func(t *testing.T) {
		f.makeDir(t, filepath.Join(f.dir, "newest"))
		f.mustRun(t, "restore", filepath.Join(f.dir, "newest", "data"))
		server := f.startServer(t, filepath.Join(f.dir, "newest"))
		requireRecovered(t, server, "before the backup after the backup too late last last last")
	})

	t.Run("of one database is restored beside it", func(t *testing.T) { testBeside(t, f) })

	t.Run("passes the drill", func(t *testing.T) {
		for _, kind := range []string{"base", "dump"} {
			output := f.mustRun(t, "drill", kind)
			require.Regexp(t, `(?m)^orders: \d+ tables, \d+ rows, .*migrations_orders \d+`, output)
			require.Regexp(t, `(?m)^events: \d+ tables, \d+ rows, .*migrations_events \d+`, output)
			require.Contains(t, output, " is whole: restored and checked in ")
		}
	})

	t.Run("that is broken fails the drill", func(t *testing.T) { testBroken(t, f) })
	t.Run("that fails leaves nothing that looks whole", func(t *testing.T) { testFailing(t, f) })
	t.Run("that is old is removed with its WAL", func(t *testing.T) {
		first := only(t, filepath.Join(f.backups, "base", "*"))
		f.mustRun(t, "base")
		f.mustRun(t, "prune", "1")
		require.NotEqual(t, first, only(t, filepath.Join(f.backups, "base", "*")))
		f.archiveAll(t)
		f.mustRun(t, "drill", "base")
	})
}

// The settings with which a server was restored are in its data directory, so also in its backups.
func TestABackupOfARestoredServerIsRestoredToItsNewestChange(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.mustRun(t, "base")
	f.write(t, "before the time")
	between := f.nextSecond(t)
	f.archiveAll(t)
	f.makeDir(t, filepath.Join(f.dir, "first"))
	f.mustRun(t, "restore", filepath.Join(f.dir, "first", "data"), between)
	first := f.startServer(t, filepath.Join(f.dir, "first"), "archive_mode=on")
	requireRecovered(t, first, "before the time")

	f.address = first.Address
	f.mustRun(t, "base")
	f.write(t, "after the restore")
	f.archiveAll(t)
	f.mustRun(t, "drill", "base")
	f.makeDir(t, filepath.Join(f.dir, "second"))
	f.mustRun(t, "restore", filepath.Join(f.dir, "second", "data"))
	second := f.startServer(t, filepath.Join(f.dir, "second"))
	requireRecovered(t, second, "before the time after the restore last")

	for range 3 {
		f.archiveAll(t)
	}
	dir, env := f.copyBackups(t)
	archived := f.archivedAfterBackup(t)
	lost := archived[len(archived)-2]
	const firstTimeline = "00000001" // The server of before may have archived a file with the same number.
	require.NoError(t, os.Rename(filepath.Join(dir, "wal", lost), filepath.Join(dir, "wal", firstTimeline+lost[len(firstTimeline):])))
	output, err := f.run(t, env, "drill", "base")
	require.Error(t, err)
	require.Contains(t, output, "is missing in")
}

// requireRecovered waits until the server has recovered, and compares the rows.
func requireRecovered(t *testing.T, server *deps.Instance, names string) {
	t.Helper()
	require.Eventually(t, func() bool { return query(t, server.Address, "SELECT pg_is_in_recovery()::text") == "false" },
		time.Minute, 20*time.Millisecond)
	require.Equal(t, names, query(t, inDatabase(t, server.Address, "orders"), kept))
}

var besideCommands = regexp.MustCompile("```sh\n(createdb (?s:.*?))```")

// testBeside follows the page for each database. Afterwards its logins have the same rights as before.
func testBeside(t *testing.T, f *fixture) {
	t.Helper()
	found := besideCommands.FindStringSubmatch(readFile(t, "README.md"))
	require.NotNil(t, found)
	for _, database := range []string{"orders", "events"} {
		_, err := f.shell(t, "set -e\n"+strings.ReplaceAll(found[1], "orders", database), nil)
		require.NoError(t, err)
	}
	require.NoError(t, filepath.WalkDir(f.secretsDir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		renamed := strings.NewReplacer("/orders?", "/orders_restored?", "/events?", "/events_restored?").Replace(readFile(t, path))
		return os.WriteFile(path, []byte(renamed), 0o600) //nolint:gosec // The folder is that of the test.
	}))
	f.makeDatabases(t)
	const owners = "SELECT DISTINCT tableowner::text FROM pg_tables WHERE schemaname = 'public'"
	serving := readFile(t, f.secrets.Path(identity.Orders, "GIFTING_DATABASE_URL"))
	require.Equal(t, "before the backup", query(t, serving, kept))
	require.Equal(t, "orders_migrate", query(t, serving, owners))
	serving = readFile(t, f.secrets.Path(identity.Events, "GIFTING_DATABASE_URL"))
	require.Equal(t, "events_migrate", query(t, serving, owners))
	require.Equal(t, "events_migrate", query(t, serving, "SELECT current_user::text"), "it makes partitions")
	sources := readFile(t, f.secrets.Path(identity.Events, "GIFTING_OUTBOX_SOURCES"))
	relay, _, _ := strings.Cut(strings.TrimPrefix(sources, "orders="), ",")
	require.Equal(t, "0", query(t, relay, "SELECT count(*)::text FROM outbox"))
}

// testBroken damages a copy of the backups in one way at a time.
func testBroken(t *testing.T, f *fixture) {
	t.Helper()
	f.query(t, "postgres", "CREATE DATABASE quiet")
	f.query(t, "quiet", "CREATE TABLE migrations_quiet (version_id bigint, is_applied boolean)")
	f.query(t, "quiet", "CREATE TABLE kept AS SELECT now() - interval '3 days' AS created_at")
	f.mustRun(t, "dump")
	truncate := func(pattern string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			found, err := filepath.Glob(filepath.Join(dir, pattern))
			require.NoError(t, err)
			require.NotEmpty(t, found)
			require.NoError(t, os.Truncate(found[len(found)-1], 4096))
		}
	}
	for name, test := range map[string]struct {
		damage    func(t *testing.T, dir string)
		kind, env string
		message   string
	}{
		"a base backup is truncated": {damage: truncate("base/*/global/1262"), kind: "base", message: "is broken"},
		"a dump is truncated":        {damage: truncate("dump/*/orders.dump"), kind: "dump", message: "is broken"},
		"a WAL file is truncated":    {damage: truncate("wal/" + segments), kind: "base", message: "cannot be restored"},
		"a WAL file is missing": {damage: func(t *testing.T, dir string) {
			t.Helper()
			archived := f.archivedAfterBackup(t)
			require.NoError(t, os.Remove(filepath.Join(dir, "wal", archived[len(archived)-2])))
		}, kind: "base", message: "is missing in"},
		"a backup is stale": {damage: func(t *testing.T, dir string) {
			t.Helper()
			backup := only(t, filepath.Join(dir, "base", "*"))
			require.NoError(t, os.Rename(backup, filepath.Join(dir, "base", "20200101T000000Z")))
		}, kind: "base", message: "is stale"},
		"there is none": {damage: func(t *testing.T, dir string) {
			t.Helper()
			require.NoError(t, os.RemoveAll(filepath.Join(dir, "base")))
		}, kind: "base", message: "has no backup"},
		"a database is missing":   {kind: "base", env: "BACKUP_DATABASES=orders nowhere", message: "nowhere cannot be read"},
		"a dump has no such file": {kind: "dump", env: "BACKUP_DATABASES=orders nowhere", message: "has no dump of nowhere"},
		"a database has nothing of the platform": {
			kind: "base", env: "BACKUP_DATABASES=postgres", message: "has no tables of the platform",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, env := f.copyBackups(t)
			if test.damage != nil {
				test.damage(t, dir)
			}
			output, err := f.run(t, append(env, test.env), "drill", test.kind)
			require.Error(t, err)
			require.Contains(t, output, "backup.sh: ")
			require.Contains(t, output, test.message)
		})
	}
	t.Run("its newest row is old", func(t *testing.T) {
		_, err := f.run(t, []string{"BACKUP_DATABASES=quiet"}, "dump")
		require.NoError(t, err)
		output, err := f.run(t, []string{"BACKUP_DATABASES=quiet"}, "drill", "dump")
		require.Error(t, err)
		require.Regexp(t, "the newest row of .* is stale", output)
	})
	t.Run("unless an instance has moved its retention clock", func(t *testing.T) {
		f.query(t, "quiet", "CREATE TABLE retention_clock AS SELECT now() AS at")
		for _, args := range [][]string{{"dump"}, {"drill", "dump"}} {
			_, err := f.run(t, []string{"BACKUP_DATABASES=quiet"}, args...)
			require.NoError(t, err)
		}
	})
}

// segments fits the names of WAL files.
const segments = "0000*[0-9A-F]"

// archivedAfterBackup are the WAL files that only the archive has.
func (f *fixture) archivedAfterBackup(t *testing.T) []string {
	t.Helper()
	archived := f.entries(t, "wal")
	slices.Sort(archived)
	archived = slices.DeleteFunc(archived, func(name string) bool {
		inBackup, err := filepath.Glob(filepath.Join(f.backups, "base", "*", "pg_wal", name))
		require.NoError(t, err)
		return len(name) != 24 || len(inBackup) > 0
	})
	require.GreaterOrEqual(t, len(archived), 2)
	return archived
}

// testFailing lets backups and restores fail.
func testFailing(t *testing.T, f *fixture) {
	t.Helper()
	before := map[string][]string{"base": f.entries(t, "base"), "dump": f.entries(t, "dump")}
	t.Run("because the target is full", func(t *testing.T) {
		for _, kind := range []string{"base", "dump"} {
			output, err := f.runLimited(t, "ulimit -f 8", nil, kind)
			require.Error(t, err)
			require.Contains(t, output, "there is no new ")
		}
	})
	t.Run("because the target is not writable", func(t *testing.T) {
		closed := filepath.Join(f.dir, "closed")
		f.makeDir(t, closed)
		require.NoError(t, os.Chmod(closed, 0o500)) //nolint:gosec // A folder must be readable.
		for _, args := range [][]string{{"base"}, {"dump"}, {"archive", f.script(), "000000010000000000000001"}} {
			output, err := f.run(t, []string{"BACKUP_DIR=" + closed}, args...)
			require.Error(t, err)
			require.Contains(t, output, "cannot write to "+closed)
		}
	})
	t.Run("because the server is away", func(t *testing.T) {
		for _, kind := range []string{"base", "dump"} {
			_, err := f.run(t, []string{"PGPORT=1"}, kind)
			require.Error(t, err)
		}
	})
	t.Run("because the archive cannot be written to disk", func(t *testing.T) {
		wal := f.entries(t, "wal")[0]
		archived := filepath.Join(f.backups, "wal", wal)
		f.mustRun(t, "archive", archived, wal)
		failing := filepath.Join(f.dir, "failing")
		f.makeDir(t, failing)
		require.NoError(t, os.WriteFile(filepath.Join(failing, "sync"), []byte("#!/bin/sh\nexit 1\n"), 0o755))
		output, err := f.runLimited(t, "PATH="+failing+":$PATH", nil, "archive", archived, wal)
		require.Error(t, err, "a file of an interrupted command may not be on disk")
		require.Contains(t, output, "cannot write ")
	})
	t.Run("because the archive is of another server", func(t *testing.T) {
		wal := f.entries(t, "wal")[0]
		output, err := f.run(t, nil, "archive", f.script(), wal)
		require.Error(t, err)
		require.Contains(t, output, "with another content")
	})
	t.Run("because the backup is broken", func(t *testing.T) {
		dir, env := f.copyBackups(t)
		require.NoError(t, os.Truncate(only(t, filepath.Join(dir, "base", "*", "global", "1262")), 4096))
		target := filepath.Join(f.dir, "broken")
		_, err := f.run(t, env, "restore", target)
		require.Error(t, err)
		require.NoDirExists(t, target)
		require.NoDirExists(t, target+".new")
	})
	t.Run("because there is data already", func(t *testing.T) {
		output, err := f.run(t, nil, "restore", f.backups)
		require.Error(t, err)
		require.Contains(t, output, "is not empty")
	})
	t.Run("because the backup is younger than the time", func(t *testing.T) {
		output, err := f.run(t, nil, "restore", filepath.Join(f.dir, "too-early"), "2020-01-01T00:00:00Z")
		require.Error(t, err)
		require.Contains(t, output, "has no backup that ended by 20200101T000000Z")
	})
	for kind, names := range before {
		require.Equal(t, names, f.entries(t, kind), kind)
	}
}
