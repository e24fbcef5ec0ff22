package store

import (
	"time"

	"github.com/jackc/pgx/v5"
)

// The actions that are audited.
const (
	Approved  = "APPROVED"
	Cancelled = "CANCELLED"
)

// ByKey is the kind of an actor that is an API key.
const ByKey = "API_KEY"

// Audit says who did what.
type Audit struct {
	Action    string
	ActorKind string
	ActorID   string
}

const insertAudit = `INSERT INTO link_audit (tenant_id, link_id, action, actor_kind, actor_id, at)
SELECT $1::uuid, unnest($2::uuid[]), $3::text, $4::text, $5::text, $6::timestamptz`

func (a *Audit) queue(b *pgx.Batch, tenantID string, linkIDs []string, at time.Time) {
	b.Queue(insertAudit, tenantID, linkIDs, a.Action, a.ActorKind, a.ActorID, at)
}
