-- +goose Up

-- Pixels; null for an image stored before they were read.
ALTER TABLE images
    ADD COLUMN width  int CHECK (width > 0),
    ADD COLUMN height int CHECK (height > 0);

-- Smaller pictures of an image, each a file of its own. Written once, with or after the original: a
-- file id stands in copies that readers keep. The primary key serves the images of a page of gifts.
CREATE TABLE image_renditions (
    original text NOT NULL REFERENCES images (file_id),
    width    int  NOT NULL CHECK (width > 0),
    file_id  text NOT NULL REFERENCES images (file_id),
    PRIMARY KEY (original, width)
);
-- Serves the question whether a file is open because it shows an open image smaller.
CREATE INDEX image_renditions_file ON image_renditions (file_id);

-- Images that are open as the logo of a brand, whose record another service keeps. Of a brand the
-- latest are kept: the logo in use must stay open until the brand names the next one.
CREATE TABLE brand_logos (
    tenant_id   uuid        NOT NULL,
    brand_id    uuid        NOT NULL,
    file_id     text        NOT NULL REFERENCES images (file_id),
    uploaded_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, brand_id, file_id)
);
-- Serves the question whether a file is open as a logo.
CREATE INDEX brand_logos_file ON brand_logos (file_id);
