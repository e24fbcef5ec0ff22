-- +goose NO TRANSACTION
-- +goose Up

DROP INDEX CONCURRENTLY IF EXISTS order_messages_body_key; -- The rest of an earlier attempt that failed.
-- Serves the check of the seal keys: the keys in use, and some values of each. The expression is that of package ringcheck.
CREATE INDEX CONCURRENTLY order_messages_body_key ON order_messages
    ((CASE WHEN length(body_sealed) > 0 THEN substring(body_sealed FOR get_byte(body_sealed, 0) + 1) END));
