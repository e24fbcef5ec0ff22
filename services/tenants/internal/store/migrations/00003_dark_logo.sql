-- +goose Up

-- The logo for dark pages. The image belongs to the catalog.
ALTER TABLE gift_sites ADD COLUMN dark_logo_image_id text CHECK (dark_logo_image_id ~ '^[0-9a-f]{32}$');
