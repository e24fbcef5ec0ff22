package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// errPermission is a missing permission, with what to do about it.
var errPermission = errors.New("the login lacks a permission")

// explain adds to a missing permission which role the migration needs: the one that owns the tables, or the database if there
// are none yet.
func (m Migrations) explain(ctx context.Context, conn *pgx.Conn, err error) error {
	if State(err) != stateInsufficientPrivilege {
		return err
	}
	var login, role, owner string
	var missing bool
	found := conn.QueryRow(ctx, `SELECT session_user, current_user,
		coalesce((SELECT tableowner FROM pg_tables WHERE tablename = $1 AND schemaname = ANY (current_schemas(false)) LIMIT 1),
			(SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database())),
		$2 <> '' AND NOT EXISTS (SELECT FROM pg_roles WHERE rolname = $2)`, m.table(), m.Role).Scan(&login, &role, &owner, &missing)
	switch {
	case found != nil:
		return err
	case missing && role == owner:
		return fmt.Errorf("%w: %w; as an administrator, run `CREATE ROLE %s NOLOGIN` first",
			errPermission, err, pgx.Identifier{m.Role}.Sanitize())
	}
	return fmt.Errorf("%w: %w; the login %q acts as %q, but this needs the role %q, which owns the tables: "+
		"use its login, or `GRANT` the role to this one and `ALTER ROLE … SET role`", errPermission, err, login, role, owner)
}
