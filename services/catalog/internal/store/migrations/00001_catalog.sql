-- +goose Up

-- Changes of the tables up to the reservations run one at a time under one advisory lock: the catalog
-- is written rarely and read often. So updated_at grows in the order of the commits, and a reader who
-- saw one change could see all earlier ones.

-- The countries in which a price is valid.
CREATE TABLE regions (
    code text PRIMARY KEY CHECK (code ~ '^[A-Z][A-Z0-9_]*$')
);

-- A country belongs to one region at most. The primary key serves the page of gifts, which looks up
-- the region of its country. The index serves the replacement of a region.
CREATE TABLE region_countries (
    country text PRIMARY KEY CHECK (country ~ '^[A-Z]{2}$'),
    region  text NOT NULL REFERENCES regions (code)
);
CREATE INDEX region_countries_region ON region_countries (region);

-- Units of a currency for one euro. A change updates no gift: estimates are computed when they are read.
CREATE TABLE exchange_rates (
    currency   text           PRIMARY KEY CHECK (currency ~ '^[A-Z]{3}$' AND currency <> 'EUR'),
    rate       numeric(20,10) NOT NULL CHECK (rate > 0),
    updated_at timestamptz    NOT NULL DEFAULT clock_timestamp()
);

-- names has the translations by locale; name is en-US. There are few categories: their order needs no index.
CREATE TABLE categories (
    code     text  PRIMARY KEY CHECK (code ~ '^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$'),
    name     text  NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
    names    jsonb NOT NULL,
    position int   NOT NULL
);

CREATE TABLE subcategories (
    code     text  PRIMARY KEY,
    category text  NOT NULL REFERENCES categories (code),
    name     text  NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
    names    jsonb NOT NULL,
    position int   NOT NULL,
    CONSTRAINT subcategories_of_category CHECK (starts_with(code, category || '__'))
);

-- The blob store keeps the bytes under file_id, the first half of their digest.
CREATE TABLE images (
    file_id      text        PRIMARY KEY CHECK (file_id ~ '^[0-9a-f]{32}$'),
    digest       text        NOT NULL UNIQUE CHECK (left(digest, 32) = file_id),
    content_type text        NOT NULL CHECK (content_type IN ('image/png', 'image/jpeg', 'image/webp')),
    size         bigint      NOT NULL CHECK (size BETWEEN 1 AND 10485760),
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Gifts, shared by all tenants. name and description are en-US; translations are {locale: {name,
-- description}}. updated_at changes when something visible to a reader changes. A gift that was
-- published once and is not now is unlisted; one that never was is hidden.
CREATE TABLE products (
    id                      uuid        PRIMARY KEY,
    state                   text        NOT NULL CHECK (state IN ('DRAFT', 'PUBLISHED', 'ARCHIVED', 'INTERNAL')),
    published_once          boolean     NOT NULL,
    name                    text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
    description             text        NOT NULL,
    translations            jsonb       NOT NULL,
    variations              jsonb       NOT NULL,
    categories              text[]      NOT NULL,
    available_countries     text[]      NOT NULL,
    image_file_ids          text[]      NOT NULL,
    customization_available boolean     NOT NULL,
    gift_set                boolean     NOT NULL,
    ready_to_send           boolean     NOT NULL,
    updated_at              timestamptz NOT NULL,
    CONSTRAINT products_published CHECK (state <> 'PUBLISHED' OR published_once)
);
-- Serves the first load: published gifts by id.
CREATE INDEX products_published_id ON products (id) WHERE state = 'PUBLISHED';
-- Serves reads of what changed since an instant, in the order of the changes.
CREATE INDEX products_changed ON products (updated_at, id) WHERE published_once;
-- Serves the search for gifts that use an image.
CREATE INDEX products_images ON products USING gin (image_file_ids);
-- Serves the search for gifts in a subcategory.
CREATE INDEX products_categories ON products USING gin (categories);

-- The primary key serves the price of each gift of a page.
CREATE TABLE product_prices (
    product_id uuid          NOT NULL REFERENCES products (id),
    region     text          NOT NULL REFERENCES regions (code),
    amount_eur numeric(10,2) NOT NULL CHECK (amount_eur > 0),
    PRIMARY KEY (product_id, region)
);

-- A campaign is completed from expires_at on, even if status differs.
CREATE TABLE campaigns (
    tenant_id  uuid        NOT NULL,
    id         uuid        NOT NULL CONSTRAINT campaigns_one_tenant UNIQUE,
    brand_id   uuid        NOT NULL,
    name       text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
    status     text        NOT NULL CHECK (status IN ('DRAFT', 'ACTIVE', 'COMPLETED')),
    expires_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, id)
);

-- The gifts a campaign offers. NEEDS_REVIEW: a change of the gift suspended it there.
CREATE TABLE offerings (
    tenant_id   uuid NOT NULL,
    campaign_id uuid NOT NULL,
    product_id  uuid NOT NULL REFERENCES products (id),
    status      text NOT NULL CHECK (status IN ('ACTIVE', 'NEEDS_REVIEW')),
    supply_type text NOT NULL CHECK (supply_type IN ('STOCKED', 'ON_DEMAND')),
    position    int  NOT NULL,
    PRIMARY KEY (tenant_id, campaign_id, product_id),
    FOREIGN KEY (tenant_id, campaign_id) REFERENCES campaigns (tenant_id, id)
);
-- Serves the campaigns that offer a gift: to suspend it there, and to open its images.
CREATE INDEX offerings_product ON offerings (product_id);

-- One combination of a gift's variations in a campaign. variations_key is the digest of variations.
-- A combination that is no longer offered keeps its row: its stock, and the units that come back to
-- it, must be there when it is offered again. stock is null until the offering is STOCKED.
CREATE TABLE skus (
    tenant_id      uuid    NOT NULL,
    campaign_id    uuid    NOT NULL,
    product_id     uuid    NOT NULL REFERENCES products (id),
    variations_key bytea   NOT NULL CHECK (octet_length(variations_key) = 32),
    id             uuid    NOT NULL UNIQUE,
    variations     jsonb   NOT NULL,
    offered        boolean NOT NULL,
    stock          int     CONSTRAINT skus_never_oversold CHECK (stock >= 0),
    PRIMARY KEY (tenant_id, campaign_id, product_id, variations_key),
    FOREIGN KEY (tenant_id, campaign_id) REFERENCES campaigns (tenant_id, id)
) WITH (fillfactor = 70);
