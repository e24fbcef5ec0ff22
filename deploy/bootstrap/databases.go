package bootstrap

import (
	"context"
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/partnergifting/platform/deploy/programs"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/services/events"
)

// Statement is a step of making the databases.
type Statement struct {
	// Database is where it is executed; empty: in any.
	Database string
	// Unless is a query. If it finds a row, the statement is not executed.
	Unless string
	SQL    string
}

// login is what a secret with the URL of a database says.
type login struct{ role, password, server, database string }

// Databases returns the statements that make the databases and roles that the secrets name, for the chosen databases or all. They
// can be executed again, also with new passwords.
//
// A service has two roles. <database>_migrate owns the database and all that its migrations create. <database> serves, and may read
// and change rows only. In the database of the feed it acts as the owner, because it makes a partition each day. The relay's login
// may enter the databases with an outbox, and belongs to the role gifting_relay. If GIFTING_CELL_DATABASES names a database, so
// that tenants are moved from it or to it, its login there is made too.
func Databases(s Secrets, chosen ...string) ([]Statement, error) {
	var all []Statement
	for _, name := range chosen {
		if !slices.ContainsFunc(programs.All(), func(p programs.Program) bool { return p.Database != "" && p.Database == name }) {
			return nil, fmt.Errorf("%w %q", errDatabase, name)
		}
	}
	relays, err := s.relays()
	if err != nil {
		return nil, err
	}
	movers, err := s.movers()
	if err != nil {
		return nil, err
	}
	for _, p := range programs.All() {
		if p.Database == "" || len(chosen) > 0 && !slices.Contains(chosen, p.Database) {
			continue
		}
		serving, err := s.login(s.Path(p.Name, databaseURL))
		if err != nil {
			return nil, err
		}
		owner, err := s.login(s.MigrationPath(p.Name))
		if err != nil {
			return nil, err
		}
		all = append(all, database(p, serving, owner)...)
		if p.Outbox {
			l := relays[p.Database]
			all = append(all, RelayLogin(l.role, l.password, l.database)...)
		}
		if l, moves := movers[owner.server+"/"+owner.database]; moves {
			all = append(all, moverLogin(l, owner)...)
		}
	}
	return all, nil
}

// database makes the roles of a service and its database. Rights are given for tables that exist and for those to come.
func database(p programs.Program, serving, owner login) []Statement {
	name, ownerRole, servingRole := quoted(owner.database), quoted(owner.role), quoted(serving.role)
	// A superuser may already give objects to others. The administrator of a managed server has to be a member of the owner.
	member := Statement{
		SQL: "GRANT " + ownerRole + " TO CURRENT_USER", Unless: "SELECT FROM pg_roles WHERE rolname = current_user AND rolsuper",
	}
	all := slices.Concat(role(owner), role(serving), []Statement{member}, ClosedDatabase(owner.database, owner.role), []Statement{
		{SQL: "GRANT CONNECT ON DATABASE " + name + " TO " + servingRole},
	})
	grants := []string{
		"ALTER DEFAULT PRIVILEGES FOR ROLE " + ownerRole + " GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO " + servingRole,
		"ALTER DEFAULT PRIVILEGES FOR ROLE " + ownerRole + " GRANT USAGE, SELECT, UPDATE ON SEQUENCES TO " + servingRole,
		"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO " + servingRole,
		"GRANT USAGE, SELECT, UPDATE ON ALL SEQUENCES IN SCHEMA public TO " + servingRole,
	}
	if slices.Contains(p.Periodic, feedMaintenance) {
		actsAsOwner := "ALTER ROLE " + servingRole + " IN DATABASE " + name + " SET role TO " + ownerRole
		grants = []string{"GRANT " + ownerRole + " TO " + servingRole, actsAsOwner}
	}
	for _, sql := range grants {
		all = append(all, Statement{Database: owner.database, SQL: sql})
	}
	return all
}

// ClosedDatabase makes a database that only superusers, its owner and logins with a grant may enter. Without an owner it belongs to
// the role that executes the statements.
func ClosedDatabase(name, owner string) []Statement {
	create := "CREATE DATABASE " + quoted(name)
	if owner != "" {
		create += " OWNER " + quoted(owner)
	}
	return []Statement{
		{SQL: create, Unless: "SELECT FROM pg_database WHERE datname = " + literal(name)},
		{SQL: "REVOKE CONNECT, TEMPORARY ON DATABASE " + quoted(name) + " FROM PUBLIC"},
	}
}

// feedMaintenance is the work that makes and drops partitions.
const feedMaintenance = "feed maintenance"

// relayGroup is the role that the migration of an outbox gives its rights to. The owner, who migrates, may not create roles.
const relayGroup = "gifting_relay"

// RelayLogin makes the relay's login for a database with an outbox.
func RelayLogin(name, password, database string) []Statement {
	group := Statement{
		SQL: "CREATE ROLE " + relayGroup + " NOLOGIN", Unless: "SELECT FROM pg_roles WHERE rolname = " + literal(relayGroup),
	}
	return slices.Concat([]Statement{group}, role(login{role: name, password: password}), []Statement{
		{SQL: "GRANT " + relayGroup + " TO " + quoted(name)},
		{SQL: "GRANT CONNECT ON DATABASE " + quoted(database) + " TO " + quoted(name)},
	})
}

// role makes a login. The server gets only a verifier of the password, so that no log of statements has it.
func role(l login) []Statement {
	return []Statement{
		{SQL: "CREATE ROLE " + quoted(l.role) + " LOGIN", Unless: "SELECT FROM pg_roles WHERE rolname = " + literal(l.role)},
		{SQL: "ALTER ROLE " + quoted(l.role) + " PASSWORD " + literal(verifier(l.password, saltOf(l)))},
	}
}

// saltOf derives the salt from role and password, so that the same secrets make the same statements. That is safe because the
// passwords are random.
func saltOf(l login) []byte {
	const saltLen = 16
	sum := sha256.Sum256([]byte("salt of " + l.role + " " + l.password))
	return sum[:saltLen]
}

// verifier is the SCRAM-SHA-256 verifier of a password (RFC 5803), in the form of PostgreSQL.
func verifier(password string, salt []byte) string {
	const iterations = 4096
	salted, err := pbkdf2.Key(sha256.New, password, salt, iterations, sha256.Size)
	if err != nil {
		panic(err) // Only if the lengths above are not allowed.
	}
	mac := func(text string) []byte {
		h := hmac.New(sha256.New, salted)
		h.Write([]byte(text))
		return h.Sum(nil)
	}
	stored, encode := sha256.Sum256(mac("Client Key")), base64.StdEncoding.EncodeToString
	return fmt.Sprintf("SCRAM-SHA-256$%d:%s$%s:%s", iterations, encode(salt), encode(stored[:]), encode(mac("Server Key")))
}

// urlForm is the form of URLs that WriteSecrets makes. Package url refuses those with several hosts.
var urlForm = regexp.MustCompile(`^postgres(?:ql)?://([^:@/]+):([^:@/]+)@([^/]+)/([^/?]+)`)

var (
	errLogin    = errors.New("must be postgres://role:password@host/database")
	errName     = errors.New("a name of a role or database has a character that psql does not accept")
	errDatabase = errors.New("there is no database")
)

func parseLogin(text string) (l login, err error) {
	found := urlForm.FindStringSubmatch(text)
	if found == nil {
		return l, errLogin
	}
	for i, into := range []*string{&l.role, &l.password, &l.server, &l.database} {
		if *into, err = url.PathUnescape(found[i+1]); err != nil {
			return l, errLogin
		}
	}
	// In a psql script a line break ends the name in \connect, and a name with = or :// is taken for a connection string.
	if strings.ContainsFunc(l.role+l.database, unicode.IsControl) || strings.ContainsAny(l.database, "=/") {
		return l, errName
	}
	return l, nil
}

func (s Secrets) login(path string) (login, error) {
	text, err := readSecret(path)
	if err != nil {
		return login{}, err
	}
	l, err := parseLogin(text)
	if err != nil {
		return l, fmt.Errorf("%s: %w", path, err)
	}
	return l, nil
}

// relays returns the logins of the relay, by the database that each is for.
func (s Secrets) relays() (map[string]login, error) {
	all := map[string]login{}
	for _, p := range programs.All() {
		field, reads := p.Settings[outboxSources]
		if !reads {
			continue
		}
		text, err := s.Read(p.Name, field)
		if err != nil {
			return nil, err
		}
		var sources events.Sources
		if err := sources.UnmarshalText([]byte(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Path(p.Name, outboxSources), err)
		}
		for _, source := range sources {
			if all[source.Name], err = parseLogin(source.URL); err != nil {
				return nil, fmt.Errorf("%s: %s %w", s.Path(p.Name, outboxSources), source.Name, err)
			}
		}
	}
	return all, nil
}

// moverLogin makes the login with which the tenants service moves tenants from a database or to it, by logical replication. It
// makes publications, slots, subscriptions and triggers, and writes as PostgreSQL does when it applies changes, without ordinary
// triggers. Before PostgreSQL 16 only a superuser may make subscriptions.
func moverLogin(l, owner login) []Statement {
	const before16 = "SELECT WHERE current_setting('server_version_num')::int < 160000"
	const since16 = "SELECT WHERE current_setting('server_version_num')::int >= 160000"
	name := quoted(l.role)
	return slices.Concat(role(l), []Statement{
		{SQL: "ALTER ROLE " + name + " REPLICATION"},
		{SQL: "GRANT " + quoted(owner.role) + " TO " + name},
		{SQL: "GRANT SET ON PARAMETER session_replication_role, deadlock_timeout, log_statement, log_min_error_statement TO " + name},
		{SQL: "GRANT pg_create_subscription TO " + name, Unless: before16},
		{SQL: "ALTER ROLE " + name + " SUPERUSER", Unless: since16},
	})
}

// movers returns the logins that move tenants, by server and database. There are none without further cells.
func (s Secrets) movers() (map[string]login, error) {
	text, err := s.Read(identity.Tenants, programs.Named(identity.Tenants).Settings[cellDatabases])
	if err != nil || text == "" {
		return nil, err
	}
	all := map[string]login{}
	for entry := range strings.SplitSeq(text, ",") {
		_, address, _ := strings.Cut(entry, "=")
		for _, p := range programs.All() {
			if p.Database == "" || !p.Name.InCells() {
				continue
			}
			l, err := parseLogin(strings.ReplaceAll(address, "{database}", p.Database))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.Path(identity.Tenants, cellDatabases), err)
			}
			all[l.server+"/"+l.database] = l
		}
	}
	return all, nil
}

// PrintDatabases writes the statements for psql.
func PrintDatabases(out io.Writer, statements []Statement) error {
	var script strings.Builder
	script.WriteString("\\set ON_ERROR_STOP on\n")
	database := ""
	for _, s := range statements {
		if s.Database != "" && s.Database != database {
			database = s.Database
			script.WriteString("\\connect " + quoted(database) + "\n")
		}
		if s.Unless == "" {
			script.WriteString(s.SQL + ";\n")
			continue
		}
		script.WriteString("SELECT " + literal(s.SQL) + " WHERE NOT EXISTS (" + s.Unless + ")\n\\gexec\n")
	}
	_, err := io.WriteString(out, script.String())
	return err
}

// Errors of RunDatabases for which the statements are not the cause.
var (
	ErrURL         = errors.New("the URL of the administrator is malformed")
	ErrUnreachable = errors.New("PostgreSQL does not answer")
)

// RunDatabases executes the statements on the server at the URL, with the login of an administrator.
func RunDatabases(ctx context.Context, address string, statements []Statement) error {
	cfg, err := pgx.ParseConfig(address)
	if err != nil {
		return ErrURL // The cause repeats the URL with its password.
	}
	var conn *pgx.Conn
	defer func() { closeQuietly(ctx, conn) }()
	for _, s := range statements {
		if conn == nil || s.Database != "" && s.Database != cfg.Database {
			closeQuietly(ctx, conn)
			if s.Database != "" {
				cfg.Database = s.Database
			}
			if conn, err = pgx.ConnectConfig(ctx, cfg); err != nil {
				return connectError(err)
			}
		}
		if err := s.run(ctx, conn); err != nil {
			return err
		}
	}
	return nil
}

// connectError says why there is no connection. A server that refuses the login has answered.
func connectError(err error) error {
	if _, answered := errors.AsType[*pgconn.PgError](err); answered {
		return fmt.Errorf("log in to PostgreSQL: %w", err)
	}
	return fmt.Errorf("%w: %w", ErrUnreachable, err)
}

func (s Statement) run(ctx context.Context, conn *pgx.Conn) error {
	if s.Unless != "" {
		var exists bool
		if err := conn.QueryRow(ctx, "SELECT EXISTS ("+s.Unless+")").Scan(&exists); err != nil {
			return fmt.Errorf("look for what exists: %w", err)
		}
		if exists {
			return nil
		}
	}
	if _, err := conn.Exec(ctx, s.SQL); err != nil {
		shown, _, _ := strings.Cut(s.SQL, " PASSWORD ")
		return fmt.Errorf("%s: %w", shown, err)
	}
	return nil
}

func closeQuietly(ctx context.Context, conn *pgx.Conn) {
	if conn != nil {
		_ = conn.Close(context.WithoutCancel(ctx)) // Nothing depends on its success.
	}
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
