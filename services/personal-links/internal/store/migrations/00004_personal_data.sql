-- +goose NO TRANSACTION
-- +goose Up

-- ERASED and EXPORTED on request. The previous version writes neither.
ALTER TABLE link_audit
    DROP CONSTRAINT IF EXISTS link_audit_action_check,
    DROP CONSTRAINT IF EXISTS link_audit_action,
    ADD CONSTRAINT link_audit_action CHECK (action IN ('APPROVED', 'CANCELLED', 'ERASED', 'EXPORTED')) NOT VALID;
ALTER TABLE link_audit VALIDATE CONSTRAINT link_audit_action;

DROP INDEX CONCURRENTLY IF EXISTS links_unclaimed; -- The rest of an earlier attempt that failed.
-- Serves retention: links that nobody has claimed and that still have details, the oldest first.
CREATE INDEX CONCURRENTLY links_unclaimed ON links (updated_at)
    WHERE details_sealed IS NOT NULL AND status IN ('REQUESTED', 'ACTIVE');
