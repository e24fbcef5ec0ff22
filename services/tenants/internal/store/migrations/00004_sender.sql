-- +goose Up

-- Who signs the notes of a brand. The pictures belong to the catalog.
ALTER TABLE gift_sites
    ADD COLUMN sender_name text CHECK (char_length(sender_name) BETWEEN 1 AND 100),
    ADD COLUMN portrait_image_id text CHECK (portrait_image_id ~ '^[0-9a-f]{32}$'),
    ADD COLUMN signature_image_id text CHECK (signature_image_id ~ '^[0-9a-f]{32}$');
