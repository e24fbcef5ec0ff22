-- +goose NO TRANSACTION
-- +goose Up

DROP INDEX CONCURRENTLY IF EXISTS attempts_of_key; -- The rest of an earlier attempt that failed.
-- Serves the health of a key: its last success, the first failure after that, and its last failure.
CREATE INDEX CONCURRENTLY attempts_of_key ON attempts (tenant_id, key_id, (problem IS NULL), started_at);
