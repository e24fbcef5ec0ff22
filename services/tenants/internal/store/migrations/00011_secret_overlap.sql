-- +goose Up

-- After a rotation the secret of before also signs for a while, so that no receiver must change at that moment. It is sealed like
-- webhook_secret, with the same associated data. Both columns are NULL otherwise.
ALTER TABLE api_keys
    ADD COLUMN previous_webhook_secret bytea,
    ADD COLUMN previous_signs_until    timestamptz,
    ADD CONSTRAINT api_keys_previous_secret CHECK ((previous_webhook_secret IS NULL) = (previous_signs_until IS NULL)) NOT VALID;
