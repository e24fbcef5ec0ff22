package backup_test

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bootstrap"
	"github.com/partnergifting/platform/deploy/local/deps"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/services/events"
	"github.com/partnergifting/platform/services/orders"
)

// fixture is a server with two databases of the platform that archives its WAL, and the folder of its backups.
type fixture struct {
	address string
	// secrets are those of bootstrap, in secretsDir. They name the logins of the databases.
	secrets    bootstrap.Secrets
	secretsDir string
	// dir is a folder that the server's user may use, and backups the folder of the backups in it.
	dir, backups string
	// programs is the folder of PostgreSQL's programs.
	programs string
	user     *syscall.SysProcAttr
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{}
	home, err := os.MkdirTemp("", "backup") //nolint:usetesting // The paths of a test are too long for a socket.
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, deps.RemoveData(home)) })
	require.NoError(t, os.Chmod(home, 0o755)) //nolint:gosec // The server's user has to pass through.
	// Until its settings are known, the server keeps its WAL.
	server := f.startServer(t, filepath.Join(home, "server"), "archive_mode=on")
	f.address = server.Address
	data := f.query(t, "postgres", "SHOW data_directory")
	f.dir, f.user = filepath.Join(filepath.Dir(data), "files"), ownerOf(t, data)
	f.backups = filepath.Join(f.dir, "backups")
	f.programs = f.query(t, "postgres", "SELECT setting FROM pg_config WHERE name = 'BINDIR'")
	for _, program := range []string{"pg_verifybackup", "pg_dump"} {
		if _, err := os.Stat(filepath.Join(f.programs, program)); err != nil {
			require.Empty(t, os.Getenv("CI"), "%s is not installed", program)
			t.Skipf("%s is not installed", program)
		}
	}
	f.makeDir(t, f.dir)
	f.makeDir(t, f.backups)
	require.NoError(t, os.WriteFile(f.script(), []byte(readFile(t, "backup.sh")), 0o755))
	f.query(t, "postgres",
		fmt.Sprintf(`ALTER SYSTEM SET archive_command = 'BACKUP_DIR="%s" sh "%s" archive "%%p" "%%f"'`, f.backups, f.script()))
	f.query(t, "postgres", "SELECT pg_reload_conf()::text")
	f.secretsDir = t.TempDir()
	f.secrets = bootstrap.OpenSecrets(f.secretsDir)
	address, err := url.Parse(f.address)
	require.NoError(t, err)
	_, err = bootstrap.WriteSecrets(f.secretsDir, bootstrap.Stores{Postgres: address.Host, Options: address.RawQuery})
	require.NoError(t, err)
	f.makeDatabases(t)
	owner := readFile(t, f.secrets.MigrationPath(identity.Orders))
	require.NoError(t, orders.Program().Migrate(t.Context(), orders.Config{Database: postgres.Config{URL: owner}}, io.Discard))
	query(t, owner, "CREATE TABLE kept (name text, created_at timestamptz NOT NULL DEFAULT clock_timestamp())")
	owner = readFile(t, f.secrets.MigrationPath(identity.Events))
	require.NoError(t, events.Program().Migrate(t.Context(), events.Config{Database: postgres.Config{URL: owner}}, io.Discard))
	return f
}

// makeDatabases makes the databases and roles that the secrets name, with their rights.
func (f *fixture) makeDatabases(t *testing.T) {
	t.Helper()
	statements, err := bootstrap.Databases(f.secrets, "orders", "events")
	require.NoError(t, err)
	require.NoError(t, bootstrap.RunDatabases(t.Context(), f.address, statements))
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}

func (f *fixture) script() string { return filepath.Join(f.dir, "backup.sh") }

func (f *fixture) startServer(t *testing.T, dir string, settings ...string) *deps.Instance {
	t.Helper()
	port, err := deps.FreePort(t.Context())
	require.NoError(t, err)
	server, err := deps.StartPostgreSQL(t.Context(), deps.PostgreSQLConfig{
		Dir: dir, Port: port, Ephemeral: true, Settings: settings, Log: slog.New(slog.DiscardHandler),
	})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop(context.WithoutCancel(t.Context()))) })
	return server
}

// ownerOf is the user of the server, who also runs the script: a server does not run as root.
func ownerOf(t *testing.T, path string) *syscall.SysProcAttr {
	t.Helper()
	if os.Geteuid() != 0 {
		return &syscall.SysProcAttr{}
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	owner := info.Sys().(*syscall.Stat_t)
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid}}
}

// makeDir makes a folder of the server's user.
func (f *fixture) makeDir(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755)) //nolint:gosec // The same.
	if f.user.Credential != nil {
		require.NoError(t, os.Chown(dir, int(f.user.Credential.Uid), int(f.user.Credential.Gid)))
	}
}

func inDatabase(t *testing.T, address, database string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	u.Path = "/" + database
	return u.String()
}

// query returns the first column of the first row, if there is one.
func (f *fixture) query(t *testing.T, database, sql string) string {
	t.Helper()
	return query(t, inDatabase(t, f.address, database), sql)
}

func query(t *testing.T, address, sql string) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	rows, err := conn.Query(t.Context(), sql)
	require.NoError(t, err)
	values, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err, sql)
	return strings.Join(values, " ")
}

// write adds a row that a later restore has or lacks.
func (f *fixture) write(t *testing.T, name string) {
	t.Helper()
	f.query(t, "orders", "INSERT INTO kept (name) VALUES ('"+name+"')")
}

// nextSecond waits until the clock of the server has passed a whole second, and returns it.
func (f *fixture) nextSecond(t *testing.T) string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), f.address)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	var next time.Time
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT date_trunc('second', clock_timestamp()) + interval '1 s'").Scan(&next))
	require.Eventually(t, func() bool {
		var passed bool
		return conn.QueryRow(t.Context(), "SELECT clock_timestamp() > $1", next).Scan(&passed) == nil && passed
	}, time.Minute, 10*time.Millisecond)
	return next.UTC().Format(time.RFC3339)
}

// archiveAll waits until all WAL so far is in the archive.
func (f *fixture) archiveAll(t *testing.T) {
	t.Helper()
	f.write(t, "last") // Without a change, the server does not begin a new file.
	last := f.query(t, "postgres", "SELECT pg_walfile_name(pg_switch_wal())")
	require.Eventually(t, func() bool {
		_, err := os.Stat(filepath.Join(f.backups, "wal", last))
		return err == nil
	}, time.Minute, 20*time.Millisecond, "%s is not archived", last)
}

// run runs the script with further variables and returns its output.
func (f *fixture) run(t *testing.T, env []string, args ...string) (output string, err error) {
	t.Helper()
	return f.runLimited(t, "", env, args...)
}

// runLimited runs a command of the shell before the script.
func (f *fixture) runLimited(t *testing.T, first string, env []string, args ...string) (output string, err error) {
	t.Helper()
	t.Logf("backup.sh %s", strings.Join(args, " "))
	return f.shell(t, first+`
		exec backup.sh "$@"`, env, args...)
}

// shell runs commands of the shell, which find the script and the programs of PostgreSQL.
func (f *fixture) shell(t *testing.T, commands string, env []string, args ...string) (output string, err error) {
	t.Helper()
	server, err := url.Parse(f.address)
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), "sh", append([]string{"-c", commands, "sh"}, args...)...)
	command.Dir, command.SysProcAttr = f.dir, f.user
	command.Env = append([]string{
		"PATH=" + f.dir + ":" + f.programs + ":" + os.Getenv("PATH"),
		"PGHOST=" + server.Hostname(), "PGPORT=" + server.Port(), "PGUSER=postgres",
		"BACKUP_DIR=" + f.backups, "BACKUP_DATABASES=orders events", "TMPDIR=/tmp",
	}, env...)
	raw, err := command.CombinedOutput()
	t.Logf("%s", raw)
	return string(raw), err
}

func (f *fixture) mustRun(t *testing.T, args ...string) (output string) {
	t.Helper()
	output, err := f.run(t, nil, args...)
	require.NoError(t, err)
	return output
}

// entries lists a folder of the backups.
func (f *fixture) entries(t *testing.T, kind string) (names []string) {
	t.Helper()
	found, err := os.ReadDir(filepath.Join(f.backups, kind))
	if err != nil {
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
	for _, entry := range found {
		names = append(names, entry.Name())
	}
	return names
}

// copyBackups copies all backups for a test that damages them, and returns the variable that names the copy.
func (f *fixture) copyBackups(t *testing.T) (dir string, env []string) {
	t.Helper()
	dir = filepath.Join(f.dir, strings.ReplaceAll(filepath.Base(t.Name()), " ", "_"))
	command := exec.CommandContext(t.Context(), "cp", "-R", f.backups, dir)
	command.SysProcAttr = f.user
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return dir, []string{"BACKUP_DIR=" + dir}
}

// only returns the only path that fits a pattern.
func only(t *testing.T, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.Len(t, found, 1, pattern)
	return found[0]
}
