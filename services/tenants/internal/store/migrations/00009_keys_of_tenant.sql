-- +goose NO TRANSACTION
-- +goose Up

-- Serves the list of a tenant's keys, revoked ones too.
CREATE INDEX CONCURRENTLY api_keys_tenant ON api_keys (tenant_id, id);
