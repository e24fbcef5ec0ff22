// Package store is the SQL of webhook delivery. Times come from the caller's clock; instances may
// differ by less than the part of a lease that is longer than an attempt.
package store

import (
	"embed"
	"io/fs"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/postgres"
)

//go:embed migrations/*.sql
var files embed.FS

// Migrations is the schema of the service's own tables.
func Migrations() postgres.Migrations {
	sub, err := fs.Sub(files, "migrations")
	if err != nil {
		panic(err) // The folder is embedded; only a broken build gets here.
	}
	return postgres.Migrations{Owner: "webhook", Files: sub}
}

// Store reads and writes the deliveries.
type Store struct {
	pool *pgxpool.Pool
}

// New makes a store on a migrated database.
func New(pool *pgxpool.Pool) *Store { return &Store{pool: pool} }

// Endpoint names a key's webhook.
type Endpoint struct {
	TenantID string
	KeyID    int32
}
