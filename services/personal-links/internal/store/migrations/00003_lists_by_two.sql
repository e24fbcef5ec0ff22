-- +goose NO TRANSACTION
-- +goose Up

-- A build that was interrupted left an index that is not used.
DROP INDEX CONCURRENTLY IF EXISTS links_brand_status;
-- Serves the list by status of a key that is limited to brands: many links may be of the brand and many of the status, but few of both.
CREATE INDEX CONCURRENTLY links_brand_status ON links (tenant_id, brand_id, status, created_at DESC, id DESC);

DROP INDEX CONCURRENTLY IF EXISTS links_status_changed;
-- Serves the list by status of what changed since an instant: few of the changed links may have the status.
CREATE INDEX CONCURRENTLY links_status_changed ON links (tenant_id, status, updated_at, id);
