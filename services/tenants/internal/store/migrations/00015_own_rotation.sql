-- +goose Up

-- API_KEY is a key that rotated its own secret. Its actor_id is the id of the key.
ALTER TABLE key_audit
    DROP CONSTRAINT key_audit_actor_kind_check,
    ADD CONSTRAINT key_audit_actor_kind_check
        CHECK (actor_kind IN ('API_KEY', 'TENANT_ACCOUNT', 'TENANT_CLIENT', 'BACKOFFICE_ACCOUNT', 'SYSTEM', 'UNKNOWN')) NOT VALID;
