-- +goose Up

-- The last rotation of the signing secret: the id that the caller chose, and when it was. A repeat with the id, because the response
-- was lost, returns the same secret. A further rotation would stop the one that the receiver knows.
ALTER TABLE api_keys
    ADD COLUMN rotation_id uuid,
    ADD COLUMN rotated_at  timestamptz;
