-- +goose Up

-- When the relay learned that all readers have stored the change; only set if confirmed rows are kept for a time.
ALTER TABLE outbox ADD COLUMN confirmed_at timestamptz;
GRANT UPDATE (confirmed_at) ON outbox TO gifting_relay;
