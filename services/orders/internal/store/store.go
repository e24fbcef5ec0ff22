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
	"github.com/partnergifting/platform/pkg/tenants"
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

// New makes a store on the pool. ring seals the delivery details and messages. events seals what an event must not show on its way.
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
		data, err = s.events.Seal(seal.EventRef{TenantID: tenantID, EventID: id}, data, seal.MessageBody)
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

// TenantData describes all rows of tenants.
func TenantData(pool *pgxpool.Pool, ring *seal.Ring) tenants.Database {
	return tenants.Database{
		Pool: pool, Ring: ring,
		Tables: []tenants.Table{
			{Name: "idempotency_answers", ByKey: true, Key: []string{"key_id int", "idempotency_key text"}, Hidden: true},
			{
				Name: "order_messages", Key: []string{"order_id uuid", "seq bigint"}, Omit: []string{"body_bytes"},
				Sealed: sealedMessages().Columns, Text: []string{"body_sealed"},
				Exported: "NOT internal",
			},
			{Name: "reservation_outcomes", Key: []string{"order_id uuid"}, Hidden: true},
			// The tenant never gets what a player enters.
			{Name: "orders", Key: []string{"id uuid"}, Sealed: sealedOrders().Columns, Withheld: "source = 'PERSONAL_LINK'"},
			{Name: "sandbox_paces", Key: []string{"order_id uuid"}, Hidden: true},
			{Name: "outbox", Key: []string{"id bigint"}, Hidden: true}, // Last, since only all of it can be read.
			{
				Name: "order_audit", Key: []string{"id uuid"}, Hidden: true,
				Kept: "audit without personal data, deleted after GIFTING_AUDIT_RETENTION",
			},
		},
		InFlight: []string{
			`SELECT count(*) FROM orders WHERE tenant_id = $1 AND status IN ('REQUESTED', 'PROCESSING', 'SENT')`,
			// Changes that the readers have not stored.
			`SELECT count(*) FROM outbox WHERE tenant_id = $1 AND confirmed_at IS NULL`,
		},
	}
}
