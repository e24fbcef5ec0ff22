-- +goose NO TRANSACTION
-- +goose Up

DROP INDEX CONCURRENTLY IF EXISTS reservations_tenant; -- The rest of an earlier attempt that failed.
-- Serves the erasure of a tenant.
CREATE INDEX CONCURRENTLY reservations_tenant ON reservations (tenant_id);
DROP INDEX CONCURRENTLY IF EXISTS reservations_of_sku;
-- Serves the check that no reservation refers to a combination that is deleted.
CREATE INDEX CONCURRENTLY reservations_of_sku ON reservations (sku_id) WHERE sku_id IS NOT NULL;
