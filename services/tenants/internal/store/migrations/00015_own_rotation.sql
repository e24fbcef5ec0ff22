-- +goose Up

-- A lost response must not stop the secret that the receiver knows, so up to three secrets of before sign, each no longer than a newer
-- one. previous_webhook_secret is the newest. The others are sealed like it, and NULL otherwise.
ALTER TABLE api_keys
    ADD COLUMN second_previous_secret bytea,
    ADD COLUMN second_signs_until     timestamptz,
    ADD COLUMN third_previous_secret  bytea,
    ADD COLUMN third_signs_until      timestamptz,
    ADD CONSTRAINT api_keys_older_secrets CHECK (
        (second_previous_secret IS NULL) = (second_signs_until IS NULL)
        AND (third_previous_secret IS NULL) = (third_signs_until IS NULL)) NOT VALID;

-- API_KEY is a key that rotated its own secret. Its actor_id is the id of the key.
ALTER TABLE key_audit
    DROP CONSTRAINT key_audit_actor_kind_check,
    ADD CONSTRAINT key_audit_actor_kind_check
        CHECK (actor_kind IN ('API_KEY', 'TENANT_ACCOUNT', 'TENANT_CLIENT', 'BACKOFFICE_ACCOUNT', 'SYSTEM', 'UNKNOWN')) NOT VALID;
