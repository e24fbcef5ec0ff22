package store

import (
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/seal"
	"github.com/partnergifting/platform/pkg/tenants"
)

// Sealed are the sealed members of events in the feed, for the check of the ring.
func Sealed() seal.SealedValues { return seal.StoredEvents("feed", "data") }

// TenantData describes all rows of tenants.
func TenantData(pool *pgxpool.Pool, events *seal.EventReader) tenants.Database {
	return tenants.Database{
		Pool: pool, Events: events,
		Tables: []tenants.Table{
			{Name: "feed", Key: []string{"day date", "position bigint"}, Bytes: []string{"data"}, Events: true},
			{Name: "feed_tenants", Key: []string{"tenant_id uuid"}, Hidden: true},
			{Name: "feed_dropped", Key: []string{"tenant_id uuid"}, Hidden: true},
		},
	}
}
