-- +goose NO TRANSACTION
-- +goose Up

DROP INDEX CONCURRENTLY IF EXISTS orders_stock_hold; -- The rest of an earlier attempt that failed.
-- Serves reconciling: the order that holds stock under an id that is not its own. Few orders were reopened, so it is small.
CREATE INDEX CONCURRENTLY orders_stock_hold ON orders (stock_hold_id) WHERE stock_hold_id IS NOT NULL;
