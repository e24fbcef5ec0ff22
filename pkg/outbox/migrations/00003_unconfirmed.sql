-- +goose NO TRANSACTION
-- +goose Up

-- Serves the relay when more rows wait than one batch takes: when the earliest of the others was recorded. It is partial so
-- that no other statement uses it: under an old snapshot the statistics are so wrong that PostgreSQL would read all of it.
CREATE INDEX CONCURRENTLY IF NOT EXISTS outbox_unconfirmed ON outbox (recorded_at) WHERE confirmed_at IS NULL;
