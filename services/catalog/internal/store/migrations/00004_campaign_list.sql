-- +goose Up

-- Serves the list of a tenant's campaigns, newest first.
CREATE INDEX campaigns_newest ON campaigns (tenant_id, created_at DESC, id DESC);
-- Serves the search for campaigns that completed because they expired.
CREATE INDEX campaigns_expiry ON campaigns (expires_at) WHERE status <> 'COMPLETED' AND expires_at IS NOT NULL;
