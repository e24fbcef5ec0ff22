-- +goose NO TRANSACTION
-- +goose Up

-- Serves the check of the seal keys: the keys in use, and some values of each. The expression is that of package ringcheck.

DROP INDEX CONCURRENTLY IF EXISTS api_keys_secret_key; -- The rest of an earlier attempt that failed.
CREATE INDEX CONCURRENTLY api_keys_secret_key ON api_keys
    ((CASE WHEN length(webhook_secret) > 0 THEN substring(webhook_secret FOR get_byte(webhook_secret, 0) + 1) END));
