package store

import (
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/tenants"
)

// Sealed are the sealed members of events with deliveries, for the check of the ring.
func Sealed() seal.SealedValues { return seal.StoredEvents("events", "body") }

// TenantData describes all rows of tenants.
func TenantData(pool *pgxpool.Pool, events *seal.EventReader) tenants.Database {
	return tenants.Database{
		Pool: pool, Events: events,
		Tables: []tenants.Table{
			{Name: "idempotency_answers", ByKey: true, Key: []string{"key_id int", "idempotency_key text"}, Hidden: true},
			{Name: "attempts", Key: []string{"event_id uuid", "key_id int", "number smallint"}, Bytes: []string{"response_body"}},
			{Name: "deliveries", Key: []string{"event_id uuid", "key_id int"}},
			{Name: "events", Key: []string{"event_id uuid"}, Bytes: []string{"body"}, Events: true},
			{Name: "pauses", Key: []string{"key_id int"}, Hidden: true},
		},
	}
}
