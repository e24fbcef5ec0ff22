// Package store holds the schema of the orders database and all its statements.
package store

import (
	"embed"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/postgres"
	"github.com/partnergifting/platform/pkg/restjson"
	"github.com/partnergifting/platform/pkg/seal"
	ordersv1 "github.com/partnergifting/platform/proto/gen/gifting/orders/v1"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

//go:embed migrations/*.sql
var files embed.FS

// Migrations is the schema of orders.
func Migrations() postgres.Migrations {
	return postgres.Embedded("orders", files)
}

// planPerCall makes PostgreSQL plan a list for the values of each call. The cached plan of a prepared statement fits the
// average tenant and would read all orders of a large one.
const planPerCall = pgx.QueryExecModeCacheDescribe

// Store reads and writes orders.
type Store struct {
	pool   *pgxpool.Pool
	ring   *seal.Ring
	events *seal.EventWriter
}

// New makes a store on the pool. ring seals the delivery details and messages, events what an event must not show on its way.
func New(pool *pgxpool.Pool, ring *seal.Ring, events *seal.EventWriter) *Store {
	return &Store{pool: pool, ring: ring, events: events}
}

// Pool returns the pool on which the store's transactions run.
func (s *Store) Pool() *pgxpool.Pool { return s.pool }

// newEvent builds the outbox row of an event of the order. originKeyID is the key that made the request; 0 if no key did.
func (s *Store) newEvent(tenantID string, order *ordersv1.Order, originKeyID int32, e rules.Event) (outbox.Event, error) {
	data, err := restjson.Marshal(e.Data)
	if err != nil {
		return outbox.Event{}, fmt.Errorf("encode event: %w", err)
	}
	id := uuid.Must(uuid.NewV7()).String()
	if e.Type == rules.EventMessagePosted {
		data, err = s.events.Seal(seal.EventPlace{TenantID: tenantID, EventID: id}, data, seal.MessageBody)
		if err != nil {
			return outbox.Event{}, fmt.Errorf("seal event: %w", err)
		}
	}
	return outbox.Event{
		ID:          id,
		Type:        e.Type,
		TenantID:    tenantID,
		BrandID:     order.GetBrandId(),
		SubjectID:   order.GetId(),
		OriginKeyID: originKeyID,
		OccurredAt:  e.OccurredAt,
		Data:        data,
	}, nil
}
