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

// databases are on the PostgreSQL server of the stack, or on servers of their own.
type databases struct {
	server   *url.URL // a superuser's, like those of the others
	others   map[string]*url.URL
	name     string
	password string // of the relay's login
}

func newDatabases(serverURL string, others map[string]string, name, relayPassword string) (*databases, error) {
	d := &databases{others: map[string]*url.URL{}, name: name, password: relayPassword}
	var failed error
	if d.server, failed = url.Parse(serverURL); failed == nil {
		for db, other := range others {
			if d.others[db], failed = url.Parse(other); failed != nil {
				break
			}
		}
	}
	if failed != nil {
		return nil, errors.New("the URL of PostgreSQL is malformed") // The cause repeats the URL with its password.
	}
	return d, nil
}

// serverOf returns a copy of the URL of the database's server.
func (d *databases) serverOf(db string) url.URL {
	if own := d.others[db]; own != nil {
		return *own
	}
	return *d.server
}

func (d *databases) url(db string) string {
	u := d.serverOf(db)
	u.Path = "/" + d.name + "_" + db
	return u.String()
}

// relayURL has the relay's login, which can only read and delete rows of the outbox.
func (d *databases) relayURL(db string) string {
	u := d.serverOf(db)
	u.Path = "/" + d.name + "_" + db
	u.User = url.UserPassword(RelayRole(d.name), d.password)
	return u.String()
}

// create creates the missing databases.
func (d *databases) create(ctx context.Context) error {
	return d.each(ctx, func(_ programs.Program, name string, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, "CREATE DATABASE "+quoted(name))
		if err != nil && !isCode(err, duplicateDatabase) {
			return fmt.Errorf("create database %s: %w", name, err)
		}
		// Only the superuser and logins with a grant may connect.
		if _, err := conn.Exec(ctx, "REVOKE CONNECT, TEMPORARY ON DATABASE "+quoted(name)+" FROM PUBLIC"); err != nil {
			return fmt.Errorf("close database %s: %w", name, err)
		}
		return nil
	})
}

// admitRelay creates the relay's login. Its role is created by the migration of the outbox, which must run first.
func (d *databases) admitRelay(ctx context.Context) error {
	return d.each(ctx, func(p programs.Program, name string, conn *pgx.Conn) error {
		if !p.Outbox {
			return nil
		}
		role := quoted(RelayRole(d.name))
		_, err := conn.Exec(ctx, "CREATE ROLE "+role+" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE INHERIT IN ROLE gifting_relay")
		if err != nil && !isCode(err, duplicateObject) {
			return fmt.Errorf("create the relay's login: %w", err)
		}
		// The password is made of letters and digits; a statement of this kind takes no parameters.
		if _, err := conn.Exec(ctx, "ALTER ROLE "+role+" PASSWORD '"+d.password+"'"); err != nil {
			return errors.New("the relay's password could not be set") // The cause repeats the statement.
		}
		if _, err := conn.Exec(ctx, "GRANT CONNECT ON DATABASE "+quoted(name)+" TO "+role); err != nil {
			return fmt.Errorf("admit the relay to %s: %w", p.Database, err)
		}
		return nil
	})
}

// each calls do for each program with a database, with a connection to the database's server.
func (d *databases) each(ctx context.Context, do func(p programs.Program, name string, conn *pgx.Conn) error) error {
	for _, p := range programs.All() {
		if p.Database == "" {
			continue
		}
		err := d.asSuperuser(ctx, p.Database, func(conn *pgx.Conn) error { return do(p, d.name+"_"+p.Database, conn) })
		if err != nil {
			return err
		}
	}
	return nil
}

// asSuperuser connects to the server of a database.
func (d *databases) asSuperuser(ctx context.Context, db string, do func(conn *pgx.Conn) error) error {
	server := d.serverOf(db)
	conn, err := pgx.Connect(ctx, server.String())
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
