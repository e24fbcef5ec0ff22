-- +goose NO TRANSACTION
-- +goose Up

-- Serves GET /orders?status=… of a key limited to brands, and ?brandId=…&status=…: there may be
-- many orders of the brand and many of the status, but few that have both.
CREATE INDEX CONCURRENTLY IF NOT EXISTS orders_brand_status
    ON orders (tenant_id, brand_id, status, created_at DESC, id DESC);
