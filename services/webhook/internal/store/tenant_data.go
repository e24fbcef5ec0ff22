package store

import (
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/eventseal"
	"github.com/partnergifting/platform/pkg/ringcheck"
	"github.com/partnergifting/platform/pkg/tenantdata"
)

// Sealed are the sealed members of events with deliveries, for the check of the ring.
func Sealed() ringcheck.Values { return eventseal.Stored("events", "body") }

// TenantData describes all rows of tenants.
func TenantData(pool *pgxpool.Pool, events *eventseal.Reader) tenantdata.Database {
	return tenantdata.Database{
		Pool: pool, Events: events,
		Tables: []tenantdata.Table{
			{Name: "idempotency_answers", ByKey: true, Key: []string{"key_id int", "idempotency_key text"}, Hidden: true},
			{Name: "attempts", Key: []string{"event_id uuid", "key_id int", "number smallint"}, Bytes: []string{"response_body"}},
			{Name: "deliveries", Key: []string{"event_id uuid", "key_id int"}},
			{Name: "events", Key: []string{"event_id uuid"}, Bytes: []string{"body"}, Events: true},
			{Name: "pauses", Key: []string{"key_id int"}, Hidden: true},
		},
	}
}
