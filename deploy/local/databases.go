package local

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/partnergifting/platform/deploy/programs"
)

// Databases returns the names of the databases of a stack with the name.
func Databases(name string) []string {
	var all []string
	for _, p := range programs.All() {
		if p.Database != "" {
			all = append(all, name+"_"+p.Database)
		}
	}
	return all
}

// RelayRole is the database login of the relay in a stack with the name.
func RelayRole(name string) string { return name + "_relay_login" }

// databases is the PostgreSQL server of the stack.
type databases struct {
	server   url.URL // a superuser's
	name     string
	password string // of the relay's login
}

func newDatabases(serverURL, name, relayPassword string) (*databases, error) {
	server, err := url.Parse(serverURL)
	if err != nil {
		return nil, errors.New("the URL of PostgreSQL is malformed") // The cause repeats the URL with its password.
	}
	return &databases{server: *server, name: name, password: relayPassword}, nil
}

func (d *databases) url(db string) string {
	u := d.server
	u.Path = "/" + d.name + "_" + db
	return u.String()
}

// relayURL has the relay's login, which can only read and delete rows of the outbox.
func (d *databases) relayURL(db string) string {
	u := d.server
	u.Path = "/" + d.name + "_" + db
	u.User = url.UserPassword(RelayRole(d.name), d.password)
	return u.String()
}

// create creates the missing databases.
func (d *databases) create(ctx context.Context) error {
	return d.asSuperuser(ctx, func(conn *pgx.Conn) error {
		for _, db := range Databases(d.name) {
			_, err := conn.Exec(ctx, "CREATE DATABASE "+quoted(db))
			if err != nil && !isCode(err, duplicateDatabase) {
				return fmt.Errorf("create database %s: %w", db, err)
			}
			// Only the superuser and logins with a grant may connect.
			if _, err := conn.Exec(ctx, "REVOKE CONNECT, TEMPORARY ON DATABASE "+quoted(db)+" FROM PUBLIC"); err != nil {
				return fmt.Errorf("close database %s: %w", db, err)
			}
		}
		return nil
	})
}

// admitRelay creates the relay's login. Its role is created by the migration of the outbox, which must run first.
func (d *databases) admitRelay(ctx context.Context) error {
	return d.asSuperuser(ctx, func(conn *pgx.Conn) error {
		role := quoted(RelayRole(d.name))
		_, err := conn.Exec(ctx, "CREATE ROLE "+role+" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE INHERIT IN ROLE gifting_relay")
		if err != nil && !isCode(err, duplicateObject) {
			return fmt.Errorf("create the relay's login: %w", err)
		}
		// The password is made of letters and digits; a statement of this kind takes no parameters.
		if _, err := conn.Exec(ctx, "ALTER ROLE "+role+" PASSWORD '"+d.password+"'"); err != nil {
			return errors.New("the relay's password could not be set") // The cause repeats the statement.
		}
		for _, p := range programs.All() {
			if !p.Outbox {
				continue
			}
			if _, err := conn.Exec(ctx, "GRANT CONNECT ON DATABASE "+quoted(d.name+"_"+p.Database)+" TO "+role); err != nil {
				return fmt.Errorf("admit the relay to %s: %w", p.Database, err)
			}
		}
		return nil
	})
}

func (d *databases) asSuperuser(ctx context.Context, do func(conn *pgx.Conn) error) error {
	conn, err := pgx.Connect(ctx, d.server.String())
	if err != nil {
		return fmt.Errorf("reach PostgreSQL: %w", err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // Nothing depends on its success.
	return do(conn)
}

func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }

// SQLSTATE codes of objects that exist already.
const (
	duplicateDatabase = "42P04"
	duplicateObject   = "42710"
)

func isCode(err error, code string) bool {
	found, ok := errors.AsType[*pgconn.PgError](err)
	return ok && found.Code == code
}
