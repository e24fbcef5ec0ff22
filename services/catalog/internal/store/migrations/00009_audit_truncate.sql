-- +goose Up

-- The audit is emptied by no statement, as in the other services.
CREATE TRIGGER catalog_audit_stays BEFORE TRUNCATE ON catalog_audit
    FOR EACH STATEMENT EXECUTE FUNCTION catalog_audit_append_only();
