package local

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/partnergifting/platform/deploy/bootstrap"
	"github.com/partnergifting/platform/deploy/programs"
)

// Databases returns the names of the databases of all cells.
func (c Config) Databases() []string {
	all := Databases(c.Name)
	for _, letter := range c.Cells {
		for _, p := range programsOfCell() {
			all = append(all, c.cellName(letter)+"_"+p.Database)
		}
	}
	return all
}

// Databases returns the names of the databases of the first cell in a stack with the name.
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
	server   *url.URL            // the stack's, with a superuser's login
	others   map[string]*url.URL // by database, each with a superuser's login
	name     string
	password string // of the relay's login
	programs []programs.Program
}

func newDatabases(serverURL string, others map[string]string, name, relayPassword string) (*databases, error) {
	d := &databases{others: map[string]*url.URL{}, name: name, password: relayPassword, programs: programs.All()}
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

// ofCell are the databases of another cell, all on the server of the stack.
func (d *databases) ofCell(name string) *databases {
	return &databases{server: d.server, name: name, password: d.password, programs: programsOfCell()}
}

// template is the URL of all databases of a cell, in which {database} is replaced by the name of one.
func (d *databases) template() string {
	const name = "DATABASE"
	return strings.Replace(d.url(name), "_"+name, "_{database}", 1)
}

var errReplication = errors.New("several cells need a PostgreSQL with wal_level=logical")

// requireReplication checks that databases of the server can follow each other.
func (d *databases) requireReplication(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, d.server.String())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	var level string
	if err := conn.QueryRow(ctx, "SHOW wal_level").Scan(&level); err != nil {
		return err
	}
	if level != "logical" {
		return fmt.Errorf("%w, not %s", errReplication, level)
	}
	return nil
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
	return d.each(ctx, func(_ programs.Program, name string) []bootstrap.Statement { return bootstrap.ClosedDatabase(name, "") })
}

// admitRelay creates the relay's login. The migration of the outbox must run first: it creates the role that the login belongs to,
// also if several stacks start at the same time.
func (d *databases) admitRelay(ctx context.Context) error {
	return d.each(ctx, func(p programs.Program, name string) []bootstrap.Statement {
		if !p.Outbox {
			return nil
		}
		return bootstrap.RelayLogin(RelayRole(d.name), d.password, name)
	})
}

// each executes the statements of each program with a database, on the database's server.
func (d *databases) each(ctx context.Context, statements func(p programs.Program, name string) []bootstrap.Statement) error {
	for _, p := range d.programs {
		if p.Database == "" {
			continue
		}
		server := d.serverOf(p.Database)
		if err := bootstrap.RunDatabases(ctx, server.String(), statements(p, d.name+"_"+p.Database)); err != nil {
			return fmt.Errorf("database of %s: %w", p.Name, err)
		}
	}
	return nil
}
