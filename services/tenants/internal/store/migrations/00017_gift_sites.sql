-- +goose Up

-- What the gift site of a brand links to and how it looks. The primary key serves the list of a tenant's gift sites.
CREATE TABLE gift_sites (
    tenant_id     uuid        NOT NULL,
    brand_id      uuid        NOT NULL,
    privacy_url   text        CHECK (char_length(privacy_url) BETWEEN 1 AND 2048),
    terms_url     text        CHECK (char_length(terms_url) BETWEEN 1 AND 2048),
    support_url   text        CHECK (char_length(support_url) BETWEEN 1 AND 2048),
    imprint_url   text        CHECK (char_length(imprint_url) BETWEEN 1 AND 2048),
    home_url      text        CHECK (char_length(home_url) BETWEEN 1 AND 2048),
    accent_colour text        CHECK (accent_colour ~ '^#[0-9A-Fa-f]{6}$'),
    -- The image belongs to the catalog, which shows it only if the brand has uploaded it.
    hero_image_id text        CHECK (hero_image_id ~ '^[0-9a-f]{32}$'),
    typeface      text        NOT NULL CHECK (typeface IN ('SYSTEM', 'SERIF', 'GROTESK', 'HUMANIST')),
    corners       text        NOT NULL CHECK (corners IN ('SQUARE', 'SOFT', 'ROUND')),
    colour_scheme text        NOT NULL CHECK (colour_scheme IN ('AUTO', 'LIGHT', 'DARK')),
    created_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, brand_id),
    CONSTRAINT gift_sites_brand FOREIGN KEY (tenant_id, brand_id) REFERENCES brands (tenant_id, id) ON DELETE CASCADE
);
