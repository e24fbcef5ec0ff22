-- +goose NO TRANSACTION
-- +goose Up

ALTER TABLE api_keys VALIDATE CONSTRAINT api_keys_previous_secret;

DROP INDEX CONCURRENTLY IF EXISTS api_keys_previous_key; -- The rest of an earlier attempt that failed.
-- Serves the check of the seal keys. The expression is that of package ringcheck.
CREATE INDEX CONCURRENTLY api_keys_previous_key ON api_keys
    ((CASE WHEN length(previous_webhook_secret) > 0 THEN substring(previous_webhook_secret FOR get_byte(previous_webhook_secret, 0) + 1) END))
    WHERE previous_webhook_secret IS NOT NULL;

DROP INDEX CONCURRENTLY IF EXISTS api_keys_previous_over; -- The rest of an earlier attempt that failed.
-- Serves retention: secrets that no longer sign.
CREATE INDEX CONCURRENTLY api_keys_previous_over ON api_keys (previous_signs_until) WHERE previous_signs_until IS NOT NULL;
