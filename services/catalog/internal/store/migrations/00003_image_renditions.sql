-- +goose Up

-- Pixels; null for an image stored before they were read.
ALTER TABLE images
    ADD COLUMN width  int CHECK (width > 0),
    ADD COLUMN height int CHECK (height > 0);

-- Smaller versions of an image, each a separate file. They are written once, with or after the original,
-- because readers keep file ids. The primary key serves the images of a page of gifts.
CREATE TABLE image_renditions (
    original text NOT NULL REFERENCES images (file_id),
    width    int  NOT NULL CHECK (width > 0),
    file_id  text NOT NULL REFERENCES images (file_id),
    PRIMARY KEY (original, width)
);
-- Serves the check whether a file is public because it is a rendition of a public image.
CREATE INDEX image_renditions_file ON image_renditions (file_id);

-- Images that are public as the logo of a brand; the brand itself belongs to another service. The latest
-- logos of a brand are kept: the one in use must stay public until the brand names the next one.
CREATE TABLE brand_logos (
    tenant_id   uuid        NOT NULL,
    brand_id    uuid        NOT NULL,
    file_id     text        NOT NULL REFERENCES images (file_id),
    uploaded_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, brand_id, file_id)
);
-- Serves the check whether a file is public as a logo.
CREATE INDEX brand_logos_file ON brand_logos (file_id);
