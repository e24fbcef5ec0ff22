-- +goose Up

-- Where the gift site shows the picture. The latest are kept of each kind. A file that is uploaded again has its newest kind.
ALTER TABLE brand_heroes
    ADD COLUMN kind text NOT NULL DEFAULT 'HERO' CHECK (kind IN ('HERO', 'PORTRAIT', 'SIGNATURE'));

-- Whether the logo is for dark pages. The latest are kept for each ground. A file that is uploaded again has its newest ground.
ALTER TABLE brand_logos ADD COLUMN on_dark boolean NOT NULL DEFAULT false;
