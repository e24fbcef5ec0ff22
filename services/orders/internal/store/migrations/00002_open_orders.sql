-- +goose NO TRANSACTION
-- +goose Up

-- An interrupted build leaves an invalid index.
DROP INDEX CONCURRENTLY IF EXISTS orders_open;

-- Serves the retention: the open orders that are old. Those whose details are erased have no entry.
CREATE INDEX CONCURRENTLY orders_open ON orders (created_at)
    WHERE status IN ('REQUESTED', 'PROCESSING', 'SENT') AND details_erased_at IS NULL;
