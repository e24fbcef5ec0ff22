-- +goose Up

-- What the images of a gift show, for the gift site: {file_id: {dimension: value}}.
ALTER TABLE products ADD COLUMN image_variations jsonb NOT NULL DEFAULT '{}';
