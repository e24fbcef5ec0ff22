-- +goose Up

-- When the relay learned that all readers have stored the change; only set if confirmed rows are kept for a time.
ALTER TABLE outbox ADD COLUMN confirmed_at timestamptz;

-- Serves the relay when more rows wait than one batch takes: when the earliest of the others was recorded. It is partial so
-- that no other statement uses it: under an old snapshot the statistics are so wrong that PostgreSQL would read all of it.
DROP INDEX outbox_recorded;
CREATE INDEX outbox_recorded ON outbox (recorded_at) WHERE confirmed_at IS NULL;

GRANT UPDATE (confirmed_at) ON outbox TO gifting_relay;
