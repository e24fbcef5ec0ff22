package deps

import (
	"context"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

func execSQL(t *testing.T, address string, statements ...string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	for _, statement := range statements {
		_, err = conn.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
}

// countKept counts the rows of the table that the tests write before a stop or a crash.
func countKept(t *testing.T, address string) int {
	t.Helper()
	return query[int](t, address, "SELECT count(*) FROM kept")
}

func query[T any](t *testing.T, address, statement string) T {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	var result T
	require.NoError(t, conn.QueryRow(t.Context(), statement).Scan(&result))
	return result
}

func TestPostgreSQL(t *testing.T) {
	t.Run("data survives a stop and a start", func(t *testing.T) {
		dir := dataDir(t)
		first := mustStart(t)(startPostgreSQLIn(t.Context(), dir))
		execSQL(t, first.Address, "CREATE TABLE kept (id int)", "INSERT INTO kept VALUES (1), (2)")
		stop(t, first)
		<-first.Exited()

		second := mustStart(t)(startPostgreSQLIn(t.Context(), dir))
		require.Equal(t, 2, countKept(t, second.Address))
		require.Equal(t, "on", query[string](t, second.Address, "SHOW fsync"))
		require.Equal(t, "400", query[string](t, second.Address, "SHOW max_connections"))
		require.Equal(t, "127.0.0.1", query[string](t, second.Address, "SHOW listen_addresses"))
	})

	t.Run("data that is kept is protected by a password", func(t *testing.T) {
		instance := mustStart(t)(startPostgreSQLIn(t.Context(), dataDir(t)))
		address, err := url.Parse(instance.Address)
		require.NoError(t, err)
		address.User = url.UserPassword(superuser, "guess")
		_, err = pgx.Connect(t.Context(), address.String())
		require.ErrorContains(t, err, "28P01")
	})

	t.Run("an ephemeral server does not sync to disk, and commits as usual", func(t *testing.T) {
		instance := mustStart(t)(StartPostgreSQL(t.Context(), PostgreSQLConfig{
			Dir: dataDir(t), Port: freePort(t), Ephemeral: true, Log: quiet,
		}))
		require.Equal(t, "off", query[string](t, instance.Address, "SHOW fsync"))
		require.Equal(t, "on", query[string](t, instance.Address, "SHOW synchronous_commit"))
	})

	t.Run("logical replication is off, and stays on once it was used", func(t *testing.T) {
		dir := dataDir(t)
		first := mustStart(t)(startPostgreSQLIn(t.Context(), dir))
		require.Equal(t, "replica", query[string](t, first.Address, "SHOW wal_level"))
		stop(t, first)
		second := mustStart(t)(StartPostgreSQL(t.Context(), PostgreSQLConfig{
			Dir: filepath.Join(dir, "postgres"), Port: freePort(t), LogicalReplication: true, Log: quiet,
		}))
		execSQL(t, second.Address, "SELECT pg_create_logical_replication_slot('kept', 'pgoutput')")
		stop(t, second)
		third := mustStart(t)(startPostgreSQLIn(t.Context(), dir))
		require.Equal(t, "logical", query[string](t, third.Address, "SHOW wal_level"))
	})

	t.Run("a second start on the same directory is an error", func(t *testing.T) {
		dir := dataDir(t)
		instance := mustStart(t)(startPostgreSQLIn(t.Context(), dir))
		_, err := startPostgreSQLIn(t.Context(), dir)
		require.ErrorIs(t, err, ErrLocked)
		require.NoError(t, ping(t.Context(), instance.Address))
	})

	t.Run("the error names a port that is in use", func(t *testing.T) {
		taken := mustStart(t)(startPostgreSQLIn(t.Context(), dataDir(t)))
		address, err := url.Parse(taken.Address)
		require.NoError(t, err)
		_, err = StartPostgreSQL(t.Context(), PostgreSQLConfig{Dir: dataDir(t), Port: portOf(t, address), Log: quiet})
		require.ErrorIs(t, err, syscall.EADDRINUSE)
	})
}

func TestPostgreSQLCrash(t *testing.T) {
	t.Run("a killed server recovers what was committed", func(t *testing.T) {
		dir := dataDir(t)
		first := mustStart(t)(startPostgreSQLIn(t.Context(), dir))
		execSQL(t, first.Address, "CREATE TABLE kept (id int)", "INSERT INTO kept VALUES (1)")
		require.NoError(t, syscall.Kill(query[int](t, first.Address, postmasterPID), syscall.SIGKILL))
		<-first.Exited()
		stop(t, first)

		second := mustStart(t)(startPostgreSQLIn(t.Context(), dir))
		require.Equal(t, 1, countKept(t, second.Address))
	})

	t.Run("a server that outlived its stack is stopped and its data is used again", func(t *testing.T) {
		dir := dataDir(t)
		first := mustStart(t)(startPostgreSQLIn(t.Context(), dir))
		execSQL(t, first.Address, "CREATE TABLE kept (id int)", "INSERT INTO kept VALUES (1)")
		stop(t, first)
		orphan := orphanOn(t, dir)

		second := mustStart(t)(startPostgreSQLIn(t.Context(), dir))
		require.Equal(t, 1, countKept(t, second.Address))
		require.NoError(t, orphan.Wait(), "the orphan ends in an orderly way")
	})
}

// postmasterPID is the first line of the file that the server itself writes.
const postmasterPID = `SELECT split_part(pg_read_file('postmaster.pid'), E'\n', 1)::int`

// orphanOn runs a server on the data without holding its lock.
func orphanOn(t *testing.T, dir string) *exec.Cmd {
	t.Helper()
	user, err := unprivileged()
	require.NoError(t, err)
	abandoned := &cluster{
		PostgreSQLConfig: PostgreSQLConfig{Port: freePort(t), Log: quiet},
		home:             filepath.Join(dir, "postgres"),
		user:             user,
	}
	require.NoError(t, abandoned.choosePrograms(t.Context()))
	require.NoError(t, abandoned.readPassword())
	server := abandoned.server()
	cmd := exec.CommandContext(context.WithoutCancel(t.Context()), server.path, server.args...)
	cmd.Dir, cmd.SysProcAttr = server.dir, server.user.attributes()
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	require.Eventually(t, func() bool { return abandoned.ping(t.Context()) == nil }, time.Minute, pollInterval)
	return cmd
}

func ping(ctx context.Context, address string) error {
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

func TestPostgreSQLFirstStart(t *testing.T) {
	t.Run("an interrupted first start is repeated", func(t *testing.T) {
		dir := dataDir(t)
		half := filepath.Join(dir, "postgres", "data.new", "base")
		require.NoError(t, os.MkdirAll(half, 0o755)) //nolint:gosec // the server's user has to pass through
		instance := mustStart(t)(startPostgreSQLIn(t.Context(), dir))
		require.NoError(t, ping(t.Context(), instance.Address))
	})

	t.Run("incomplete programs of an interrupted download are replaced by those that work", func(t *testing.T) {
		dir := dataDir(t)
		user, err := unprivileged()
		require.NoError(t, err)
		c := &cluster{PostgreSQLConfig: PostgreSQLConfig{Ephemeral: true, Log: quiet}, home: dir, user: user}
		installed := c.findPrograms(t.Context(), "")
		require.NotEmpty(t, installed)
		require.NoError(t, os.MkdirAll(filepath.Join(c.embeddedDir(), "bin", "pg_ctl"), 0o755)) //nolint:gosec // as above

		fetched := filepath.Join(dir, "fetched")
		require.NoError(t, os.Mkdir(fetched, 0o755)) //nolint:gosec // as above
		require.ErrorContains(t, c.adopt(t.Context(), fetched), "initdb")
		require.NoFileExists(t, filepath.Join(c.embeddedDir(), "bin", "postgres"))

		require.NoError(t, os.Symlink(installed, filepath.Join(fetched, "bin")))
		require.NoError(t, c.adopt(t.Context(), fetched))
		require.FileExists(t, filepath.Join(c.embeddedDir(), "bin", "postgres"))
	})

	t.Run("data that its server's user cannot enter is external, and moves and is removed with the directory", func(t *testing.T) {
		if os.Geteuid() != 0 {
			t.Skip("an ordinary user's server runs as that user, who can enter its own directories")
		}
		closed := filepath.Join(t.TempDir(), "closed")
		first := mustStart(t)(startPostgreSQLIn(t.Context(), closed))
		execSQL(t, first.Address, "CREATE TABLE kept (id int)", "INSERT INTO kept VALUES (1)")
		stop(t, first)
		moved := closed + "-moved"
		require.NoError(t, os.Rename(closed, moved))

		dir := filepath.Join(moved, "postgres")
		instance := mustStart(t)(startPostgreSQLIn(t.Context(), moved))
		require.Equal(t, 1, countKept(t, instance.Address))
		kept, err := os.Readlink(filepath.Join(dir, externalLink))
		require.NoError(t, err)
		require.FileExists(t, filepath.Join(kept, "data", "PG_VERSION"))
		stop(t, instance)
		require.NoError(t, RemoveData(moved))
		require.NoDirExists(t, kept)
		require.NoDirExists(t, dir)
	})
}
