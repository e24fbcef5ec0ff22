-- +goose Up

-- What the gift site says above the gifts of a campaign: {locale: text}.
ALTER TABLE campaigns ADD COLUMN greetings jsonb NOT NULL DEFAULT '{}';

-- Images that are public as pictures of a brand's gift site, with their renditions. As of logos, the latest are kept.
CREATE TABLE brand_heroes (
    tenant_id   uuid        NOT NULL,
    brand_id    uuid        NOT NULL,
    file_id     text        NOT NULL REFERENCES images (file_id),
    uploaded_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, brand_id, file_id)
);
-- Serves the check whether a file is public as such a picture.
CREATE INDEX brand_heroes_file ON brand_heroes (file_id);
