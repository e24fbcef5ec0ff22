-- +goose NO TRANSACTION
-- +goose Up

-- Serves the list of all tenants, newest first.
CREATE INDEX CONCURRENTLY tenants_created ON tenants (created_at DESC, id DESC);
