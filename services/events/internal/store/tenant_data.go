package store

import (
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/eventseal"
	"github.com/partnergifting/platform/pkg/ringcheck"
	"github.com/partnergifting/platform/pkg/tenantdata"
)

// Sealed are the sealed members of events in the feed, for the check of the ring.
func Sealed() ringcheck.Values { return eventseal.Stored("feed", "data") }

// TenantData describes all rows of tenants.
func TenantData(pool *pgxpool.Pool, events *eventseal.Reader) tenantdata.Database {
	return tenantdata.Database{
		Pool: pool, Events: events,
		Tables: []tenantdata.Table{
			{Name: "feed", Key: []string{"day date", "position bigint"}, Bytes: []string{"data"}, Events: true},
			{Name: "feed_tenants", Key: []string{"tenant_id uuid"}, Hidden: true},
			{Name: "feed_dropped", Key: []string{"tenant_id uuid"}, Hidden: true},
		},
	}
}
