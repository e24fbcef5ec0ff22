-- +goose NO TRANSACTION
-- +goose Up

-- Serves GET /orders?updatedSince=… and replaces orders_updated: changed orders are read from the table only if they have
-- the requested brand, status and time. Without these columns the server reads all changed orders, or the index of all
-- orders of the status.
DROP INDEX CONCURRENTLY IF EXISTS orders_changed; -- The rest of an earlier attempt that failed.
CREATE INDEX CONCURRENTLY orders_changed ON orders (tenant_id, updated_at, created_at, status, brand_id);
DROP INDEX CONCURRENTLY IF EXISTS orders_updated;
