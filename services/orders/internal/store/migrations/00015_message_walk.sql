-- +goose NO TRANSACTION
-- +goose Up

DROP INDEX CONCURRENTLY IF EXISTS order_messages_walk; -- The rest of an earlier attempt that failed.
-- Serves re-encrypt, which reads all messages in this order, in batches.
CREATE INDEX CONCURRENTLY order_messages_walk ON order_messages (tenant_id, id);
