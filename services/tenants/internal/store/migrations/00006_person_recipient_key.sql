-- +goose NO TRANSACTION
-- +goose Up

-- A build that was interrupted left an index that is not used.
DROP INDEX CONCURRENTLY IF EXISTS person_requests_recipient_key;
-- Serves the check of the seal keys, like those of api_keys.
CREATE INDEX CONCURRENTLY person_requests_recipient_key ON person_requests
    ((CASE WHEN length(recipient_sealed) > 0 THEN substring(recipient_sealed FOR get_byte(recipient_sealed, 0) + 1) END))
    WHERE recipient_sealed IS NOT NULL;
