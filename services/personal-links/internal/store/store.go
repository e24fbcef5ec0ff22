// Package store keeps personal links in PostgreSQL.
package store

import (
	"embed"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/seal"
)

//go:embed migrations/*.sql
var files embed.FS

// Migrations is the schema of the links.
func Migrations() postgres.Migrations {
	return postgres.Embedded("links", files)
}

// Store of one database. The ring opens what is sealed in it.
type Store struct {
	pool *pgxpool.Pool
	ring *seal.Ring
}

// New makes the store over a migrated database.
func New(pool *pgxpool.Pool, ring *seal.Ring) *Store { return &Store{pool: pool, ring: ring} }

// Pool is the database the store's transactions run on.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }
