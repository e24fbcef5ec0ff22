-- +goose NO TRANSACTION
-- +goose Up

ALTER TABLE api_keys VALIDATE CONSTRAINT api_keys_older_secrets;
ALTER TABLE key_audit VALIDATE CONSTRAINT key_audit_actor_kind_check;

-- Serve the check of the seal keys. The expression is that of package ringcheck.
DROP INDEX CONCURRENTLY IF EXISTS api_keys_second_previous_key; -- The rest of an earlier attempt that failed.
CREATE INDEX CONCURRENTLY api_keys_second_previous_key ON api_keys
    ((CASE WHEN length(second_previous_secret) > 0 THEN substring(second_previous_secret FOR get_byte(second_previous_secret, 0) + 1) END))
    WHERE second_previous_secret IS NOT NULL;

DROP INDEX CONCURRENTLY IF EXISTS api_keys_third_previous_key; -- The rest of an earlier attempt that failed.
CREATE INDEX CONCURRENTLY api_keys_third_previous_key ON api_keys
    ((CASE WHEN length(third_previous_secret) > 0 THEN substring(third_previous_secret FOR get_byte(third_previous_secret, 0) + 1) END))
    WHERE third_previous_secret IS NOT NULL;

DROP INDEX CONCURRENTLY IF EXISTS api_keys_any_previous_over; -- The rest of an earlier attempt that failed.
-- Serves retention: secrets that no longer sign.
CREATE INDEX CONCURRENTLY api_keys_any_previous_over ON api_keys (least(previous_signs_until, second_signs_until, third_signs_until))
    WHERE least(previous_signs_until, second_signs_until, third_signs_until) IS NOT NULL;
