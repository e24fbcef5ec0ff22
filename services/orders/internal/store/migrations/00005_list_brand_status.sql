-- +goose NO TRANSACTION
-- +goose Up

-- Serves GET /orders?status=… of a key limited to brands, and ?brandId=…&status=…: a brand may have many orders and
-- a status too, and yet hardly any be both.
CREATE INDEX CONCURRENTLY IF NOT EXISTS orders_brand_status
    ON orders (tenant_id, brand_id, status, created_at DESC, id DESC);
