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
	found := conn.QueryRow(ctx, `SELECT session_user, current_user,
		coalesce((SELECT tableowner FROM pg_tables WHERE tablename = $1 AND schemaname = ANY (current_schemas(false)) LIMIT 1),
			(SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = current_database()))`,
		m.table()).Scan(&login, &role, &owner)
	if found != nil || role == owner { // An owner lacks something else, which the error of the migration names.
		return err
	}
	return fmt.Errorf("%w: %w; the login %q acts as %q, but this needs the role %q, which owns the tables: "+
		"use its login, or `GRANT` the role to this one and `ALTER ROLE … SET role`", errPermission, err, login, role, owner)
}
