package bootstrap_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bootstrap"
	"github.com/partnergifting/platform/deploy/bootstrap/bootstraptest"
	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/testenv"
)

// fixture is an installation with databases of its own on the server of the tests.
type fixture struct {
	dir, prefix, adminURL string
	statements            []bootstrap.Statement
}

func setup(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{
		dir: t.TempDir(), prefix: "boot_" + strings.ToLower(rand.Text()[:8]) + "_", adminURL: testenv.Require(t, testenv.PostgresURL),
	}
	server, err := url.Parse(f.adminURL)
	require.NoError(t, err)
	_, err = bootstrap.WriteSecrets(f.dir, bootstrap.Stores{Postgres: server.Host, Options: server.RawQuery, Prefix: f.prefix})
	require.NoError(t, err)
	f.statements, err = bootstrap.Databases(bootstrap.OpenSecrets(f.dir))
	require.NoError(t, err)
	t.Cleanup(func() { bootstraptest.Drop(t, f.adminURL, f.prefix) })
	return f
}

// connect logs in with the URL in a file of the secrets. path is relative to their folder.
func (f *fixture) connect(t *testing.T, path string) *pgx.Conn {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(f.dir, path))
	require.NoError(t, err)
	return connect(t, string(text))
}

func connect(t *testing.T, address string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

const insufficientPrivilege = "42501"

func requireForbidden(t *testing.T, err error) {
	t.Helper()
	var found *pgconn.PgError
	require.ErrorAs(t, err, &found)
	require.Equal(t, insufficientPrivilege, found.Code, found.Message)
}

// migrate runs the program's migrations with the owner's login.
func (f *fixture) migrate(t *testing.T, name identity.Name) {
	t.Helper()
	p := programs.Named(name)
	env := environment(t, f.dir, p)
	text, err := os.ReadFile(bootstrap.OpenSecrets(f.dir).MigrationPath(name))
	require.NoError(t, err)
	env["GIFTING_DATABASE_URL"] = string(text)
	require.NoError(t, p.Migrate(t.Context(), env))
}

func TestDatabases(t *testing.T) {
	t.Parallel()
	f := setup(t)
	require.NoError(t, bootstrap.RunDatabases(t.Context(), f.adminURL, f.statements))
	for _, p := range programs.All() {
		if p.Database != "" {
			f.migrate(t, p.Name)
		}
	}
	t.Run("can be made again", func(t *testing.T) {
		require.NoError(t, bootstrap.RunDatabases(t.Context(), f.adminURL, f.statements))
	})
	t.Run("let the serving role change rows and nothing else", func(t *testing.T) {
		conn := f.connect(t, "gifting-orders/database-url")
		for _, allowed := range []string{"DELETE FROM orders", "SELECT count(*) FROM outbox"} {
			_, err := conn.Exec(t.Context(), allowed)
			require.NoError(t, err, allowed)
		}
		for _, forbidden := range []string{
			"CREATE TABLE own (id int)", "DROP TABLE orders", "TRUNCATE orders", "ALTER TABLE orders DISABLE TRIGGER ALL",
			"CREATE ROLE other",
			"CREATE TEMPORARY TABLE own (id int)",
		} {
			_, err := conn.Exec(t.Context(), forbidden)
			requireForbidden(t, err)
		}
	})
	t.Run("let the feed make partitions, which belong to the owner", func(t *testing.T) {
		conn := f.connect(t, "gifting-events/database-url")
		_, err := conn.Exec(t.Context(), "CREATE TABLE feed_tomorrow (LIKE feed INCLUDING ALL)")
		require.NoError(t, err)
		var owner string
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT tableowner FROM pg_tables WHERE tablename = 'feed_tomorrow'").Scan(&owner))
		require.Equal(t, f.prefix+"events_migrate", owner)
	})
	t.Run("let the relay use outboxes and nothing else", func(t *testing.T) {
		field := programs.Named(identity.Events).Settings["GIFTING_OUTBOX_SOURCES"]
		sources, err := bootstrap.OpenSecrets(f.dir).Read(identity.Events, field)
		require.NoError(t, err)
		for source := range strings.SplitSeq(sources, ",") {
			_, address, _ := strings.Cut(source, "=")
			relay := connect(t, address)
			for _, allowed := range []string{"SELECT id FROM outbox", "DELETE FROM outbox"} {
				_, err := relay.Exec(t.Context(), allowed)
				require.NoError(t, err, allowed)
			}
			for _, forbidden := range []string{
				"SELECT FROM idempotency_answers", "UPDATE outbox SET type = 'x'", "TRUNCATE outbox", "CREATE TABLE own (id int)",
				"CREATE TEMPORARY TABLE own (id int)", "CREATE ROLE other",
			} {
				_, err := relay.Exec(t.Context(), forbidden)
				requireForbidden(t, err)
			}
			other, err := url.Parse(address)
			require.NoError(t, err)
			login, password := other.User.Username(), rand.Text()
			statements := bootstrap.RelayLogin(login, password, strings.TrimPrefix(other.Path, "/"))
			require.NoError(t, bootstrap.RunDatabases(t.Context(), f.adminURL, statements))
			other.User = url.UserPassword(login, password)
			connect(t, other.String())
			other.Path = "/" + f.prefix + "tenants" // It has no outbox.
			_, err = pgx.Connect(t.Context(), other.String())
			requireForbidden(t, err)
		}
	})
	t.Run("let no service into the database of another", func(t *testing.T) {
		text, err := os.ReadFile(filepath.Join(f.dir, "gifting-orders", "database-url"))
		require.NoError(t, err)
		_, err = pgx.Connect(t.Context(), strings.Replace(string(text), "/"+f.prefix+"orders?", "/"+f.prefix+"tenants?", 1))
		requireForbidden(t, err)
	})
}

func TestTheAdministratorOfAManagedServerNeedsNoSuperuser(t *testing.T) {
	t.Parallel()
	f := setup(t)
	superuser := connect(t, f.adminURL)
	admin, password := f.prefix+"admin", rand.Text()
	_, err := superuser.Exec(t.Context(), "CREATE ROLE "+admin+" LOGIN CREATEDB CREATEROLE PASSWORD '"+password+"'")
	require.NoError(t, err)
	// Another test may already have made the relay's group, which belongs to the whole server.
	_, _ = superuser.Exec(t.Context(), "CREATE ROLE gifting_relay NOLOGIN")
	_, err = superuser.Exec(t.Context(), "GRANT gifting_relay TO "+admin+" WITH ADMIN OPTION")
	require.NoError(t, err)
	address, err := url.Parse(f.adminURL)
	require.NoError(t, err)
	address.User = url.UserPassword(admin, password)
	require.NoError(t, bootstrap.RunDatabases(t.Context(), address.String(), f.statements))
	f.migrate(t, identity.Orders)
	require.NoError(t, bootstrap.RunDatabases(t.Context(), address.String(), f.statements))
	f.connect(t, "gifting-orders/database-url")
}

func TestThePrintedStatementsAreForPsql(t *testing.T) {
	t.Parallel()
	f := setup(t)
	var script bytes.Buffer
	require.NoError(t, bootstrap.PrintDatabases(&script, f.statements))
	for _, content := range contents(t, f.dir) {
		if _, rest, found := strings.Cut(content, f.prefix+"orders:"); found {
			password, _, _ := strings.Cut(rest, "@")
			require.NotContains(t, script.String(), password, "the script has verifiers of the passwords only")
		}
	}
	psql, err := exec.LookPath("psql")
	if err != nil {
		require.Empty(t, os.Getenv("CI"), "psql is not installed")
		t.Skip("psql is not installed")
	}
	for range 2 {
		command := exec.CommandContext(t.Context(), psql, "--no-psqlrc", "--quiet", f.adminURL)
		command.Stdin = bytes.NewReader(script.Bytes())
		output, err := command.CombinedOutput()
		require.NoError(t, err, "%s", output)
	}
	f.migrate(t, identity.PersonalLinks)
	f.connect(t, "gifting-personal-links/database-url")
}

func TestDatabasesCanBeChosenByName(t *testing.T) {
	t.Parallel()
	f := setup(t)
	chosen, err := bootstrap.Databases(bootstrap.OpenSecrets(f.dir), "links")
	require.NoError(t, err)
	var script bytes.Buffer
	require.NoError(t, bootstrap.PrintDatabases(&script, chosen))
	require.Contains(t, script.String(), f.prefix+"links")
	require.NotContains(t, script.String(), f.prefix+"orders")
	_, err = bootstrap.Databases(bootstrap.OpenSecrets(t.TempDir()))
	require.ErrorContains(t, err, "bootstrap keys")
	_, err = bootstrap.Databases(bootstrap.OpenSecrets(f.dir), "link")
	require.ErrorContains(t, err, `there is no database "link"`)
}

func TestTheLoginThatMovesTenantsMayDoWhatAMoveDoes(t *testing.T) {
	t.Parallel()
	f := setup(t)
	server, err := url.Parse(f.adminURL)
	require.NoError(t, err)
	of := func(host string) string {
		return "=postgres://" + f.prefix + "mover:" + rand.Text() + "@" + host + "/" + f.prefix + "{database}?" + server.RawQuery
	}
	setting := "a" + of(server.Host) + ",b" + of("elsewhere:5432")
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, "gifting-tenants", "cell-databases"), []byte(setting), 0o600))
	statements, err := bootstrap.Databases(bootstrap.OpenSecrets(f.dir))
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, bootstrap.RunDatabases(t.Context(), f.adminURL, statements))
	}
	f.migrate(t, identity.Orders)
	_, address, _ := strings.Cut(setting[:strings.Index(setting, ",b=")], "=")
	mover := connect(t, strings.ReplaceAll(address, "{database}", "orders"))
	for _, allowed := range []string{
		"CREATE PUBLICATION moved FOR TABLE orders WHERE (tenant_id = '00000000-0000-0000-0000-000000000001')",
		"CREATE SUBSCRIPTION moved CONNECTION 'host=elsewhere password=x' PUBLICATION moved WITH (connect = false)",
		"CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
		"CREATE TRIGGER refuse BEFORE INSERT ON orders FOR EACH ROW EXECUTE FUNCTION refuse()",
		"BEGIN; SET LOCAL session_replication_role = replica; DELETE FROM order_audit; COMMIT",
		"DROP TRIGGER refuse ON orders", "ALTER SUBSCRIPTION moved SET (slot_name = NONE)", "DROP SUBSCRIPTION moved",
	} {
		_, err := mover.Exec(t.Context(), allowed)
		require.NoError(t, err, allowed)
	}
	var replicates bool
	const selectReplicates = "SELECT rolreplication FROM pg_roles WHERE rolname = current_user"
	require.NoError(t, mover.QueryRow(t.Context(), selectReplicates).Scan(&replicates))
	require.True(t, replicates)
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, "gifting-tenants", "cell-databases"), []byte("a=db/{database}"), 0o600))
	_, err = bootstrap.Databases(bootstrap.OpenSecrets(f.dir))
	require.ErrorContains(t, err, "cell-databases: must be postgres://role:password@host/database")
}

// rewrite changes the URLs in all secrets.
func (f *fixture) rewrite(t *testing.T, change *strings.Replacer) {
	t.Helper()
	for name, content := range contents(t, f.dir) {
		if strings.Contains(content, "postgres://") {
			require.NoError(t, os.WriteFile(filepath.Join(f.dir, name), []byte(change.Replace(content)), 0o600))
		}
	}
}

func TestNamesWithQuotesAndSpaces(t *testing.T) {
	t.Parallel()
	f := setup(t)
	// Roles and databases get a space, both quotes, a backslash and what psql would replace.
	const odd = "%20o'%22;%3A%22\\ü_"
	// Role and database both follow a slash.
	f.rewrite(t, strings.NewReplacer("//"+f.prefix, "//"+f.prefix+odd, "/"+f.prefix, "/"+f.prefix+odd))
	statements, err := bootstrap.Databases(bootstrap.OpenSecrets(f.dir), "orders", "events")
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, bootstrap.RunDatabases(t.Context(), f.adminURL, statements))
	}
	psql, err := exec.LookPath("psql")
	require.NoError(t, err)
	var script bytes.Buffer
	require.NoError(t, bootstrap.PrintDatabases(&script, statements))
	command := exec.CommandContext(t.Context(), psql, "--no-psqlrc", "--quiet", f.adminURL)
	command.Stdin = &script
	output, err := command.CombinedOutput()
	require.NoError(t, err, "%s", output)
	var database, role string
	for _, path := range []string{
		"gifting-orders/migration-database-url", "gifting-orders/database-url", "gifting-events/database-url",
	} {
		require.NoError(t, f.connect(t, path).QueryRow(t.Context(), "SELECT current_database(), current_user").Scan(&database, &role))
		require.Contains(t, database, f.prefix+` o'";:"\ü_`)
		require.Contains(t, role, f.prefix+` o'";:"\ü_`)
	}
	// The role of the last path, the feed's.
	require.True(t, strings.HasSuffix(role, "events_migrate"), "the feed acts as the owner")
}

func TestANameThatPsqlWouldTakeForSomethingElseIsRefused(t *testing.T) {
	t.Parallel()
	f := setup(t)
	path := filepath.Join(f.dir, "gifting-orders", "database-url")
	for name, database := range map[string]string{
		"a command in the next line": "orders%0A%5C!%20id", "a connection string": "dbname=orders",
		"the URL of a server": "postgres:%2F%2Fevil",
	} {
		t.Run(name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(path, []byte("postgres://orders:hunter2@db/"+database), 0o600))
			_, err := bootstrap.Databases(bootstrap.OpenSecrets(f.dir))
			require.ErrorContains(t, err, path+": ")
			require.NotContains(t, err.Error(), "hunter2")
		})
	}
}

func TestDatabasesOfSeveralHosts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := bootstrap.WriteSecrets(dir, bootstrap.Stores{
		Postgres: "a.example.com:5432,b.example.com:5432", Options: "target_session_attrs=primary",
	})
	require.NoError(t, err)
	statements, err := bootstrap.Databases(bootstrap.OpenSecrets(dir))
	require.NoError(t, err)
	var script bytes.Buffer
	require.NoError(t, bootstrap.PrintDatabases(&script, statements))
	require.Contains(t, script.String(), `GRANT gifting_relay TO "relay_login"`)
	require.Contains(t, script.String(), `GRANT CONNECT ON DATABASE "links" TO "relay_login"`)
}

func TestDatabasesCanBeContinuedAfterAnError(t *testing.T) {
	t.Parallel()
	f := setup(t)
	// Every seventh position is enough, and much faster than each.
	for failing := 0; failing < len(f.statements); failing += 7 {
		broken := append(slices.Clone(f.statements[:failing]), bootstrap.Statement{SQL: "SELECT 1/0"})
		require.ErrorContains(t, bootstrap.RunDatabases(t.Context(), f.adminURL, broken), "division by zero")
	}
	require.NoError(t, bootstrap.RunDatabases(t.Context(), f.adminURL, f.statements))
	f.connect(t, "gifting-orders/database-url")
}
