-- +goose NO TRANSACTION
-- +goose Up

-- Serve the check of the seal keys: the keys in use, and some values of each. The expression is that of package ringcheck.

DROP INDEX CONCURRENTLY IF EXISTS links_claim_url_key; -- The rest of an earlier attempt that failed.
CREATE INDEX CONCURRENTLY links_claim_url_key ON links
    ((CASE WHEN length(claim_url_sealed) > 0 THEN substring(claim_url_sealed FOR get_byte(claim_url_sealed, 0) + 1) END));

DROP INDEX CONCURRENTLY IF EXISTS links_details_key; -- The rest of an earlier attempt that failed.
CREATE INDEX CONCURRENTLY links_details_key ON links
    ((CASE WHEN length(details_sealed) > 0 THEN substring(details_sealed FOR get_byte(details_sealed, 0) + 1) END)) WHERE details_sealed IS NOT NULL;

DROP INDEX CONCURRENTLY IF EXISTS links_reason_key; -- The rest of an earlier attempt that failed.
CREATE INDEX CONCURRENTLY links_reason_key ON links
    ((CASE WHEN length(reason_sealed) > 0 THEN substring(reason_sealed FOR get_byte(reason_sealed, 0) + 1) END)) WHERE reason_sealed IS NOT NULL;
