// Package store is the database of orders: its schema and every statement on it.
package store

import (
	"embed"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/seal"
)

//go:embed migrations/*.sql
var files embed.FS

// Migrations is the schema of orders.
func Migrations() postgres.Migrations {
	return postgres.Embedded("orders", files)
}

// planPerCall lets PostgreSQL plan a list for the values of each call. The plan it keeps for a prepared
// statement suits the average tenant and would read all orders of a large one.
const planPerCall = pgx.QueryExecModeCacheDescribe

// Store reads and writes orders.
type Store struct {
	pool *pgxpool.Pool
	ring *seal.Ring
}

// New makes a store on the pool; ring seals the delivery details.
func New(pool *pgxpool.Pool, ring *seal.Ring) *Store { return &Store{pool: pool, ring: ring} }

// Pool is the database the store's transactions run on.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }
