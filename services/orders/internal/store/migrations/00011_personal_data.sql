-- +goose NO TRANSACTION
-- +goose Up

DROP INDEX CONCURRENTLY IF EXISTS orders_link_repeated; -- The rest of an earlier attempt that failed.
-- Serves the search for a person's orders: those that orders_personal_link leaves out. There are hardly any.
CREATE INDEX CONCURRENTLY orders_link_repeated ON orders (tenant_id, personal_link_id) WHERE link_repeated;
