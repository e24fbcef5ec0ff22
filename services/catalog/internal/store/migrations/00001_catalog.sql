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
    -- Pixels.
    width        int         NOT NULL CHECK (width > 0),
    height       int         NOT NULL CHECK (height > 0),
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Smaller versions of an image, each a separate file. They are written once, with the original,
-- because readers keep file ids. The primary key serves the images of a page of gifts.
CREATE TABLE image_renditions (
    original text NOT NULL REFERENCES images (file_id),
    width    int  NOT NULL CHECK (width > 0),
    file_id  text NOT NULL REFERENCES images (file_id),
    PRIMARY KEY (original, width)
);
-- Serves the check whether a file is public because it is a rendition of a public image.
CREATE INDEX image_renditions_file ON image_renditions (file_id);

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
    -- What shown_images returns for image_file_ids. It is stored with the gift, because gifts are read far more often than
    -- written, and a page of gifts is read a hundred times faster than by looking up the renditions.
    images                  jsonb       NOT NULL DEFAULT '[]',
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

-- The images of a gift in display order, as readers get them: of each image its renditions from the
-- smallest to the largest, then the image itself.
CREATE FUNCTION shown_images(p_file_ids text[]) RETURNS jsonb LANGUAGE sql STABLE AS $$
    SELECT coalesce(jsonb_agg(jsonb_build_object('fileId', f.file_id, 'width', f.width) ORDER BY i.place, f.width), '[]')
    FROM unnest(p_file_ids) WITH ORDINALITY AS i (file_id, place)
    CROSS JOIN LATERAL (
        SELECT r.file_id, r.width FROM image_renditions r WHERE r.original = i.file_id UNION ALL SELECT i.file_id, NULL
    ) AS f
$$;

-- Code that writes renditions of an image that gifts already show must write image_file_ids again.
-- +goose StatementBegin
CREATE FUNCTION products_show_images() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.images := CASE WHEN cardinality(NEW.image_file_ids) = 0 THEN '[]' ELSE shown_images(NEW.image_file_ids) END;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER products_images_shown BEFORE INSERT OR UPDATE OF image_file_ids ON products
    FOR EACH ROW EXECUTE FUNCTION products_show_images();

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
    -- What the gift site says above the gifts of the campaign: {locale: text}.
    greetings  jsonb       NOT NULL DEFAULT '{}',
    expires_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, id)
);
-- Serves the list of a tenant's campaigns, newest first.
CREATE INDEX campaigns_newest ON campaigns (tenant_id, created_at DESC, id DESC);
-- Serves the search for campaigns that completed because they expired.
CREATE INDEX campaigns_expiry ON campaigns (expires_at) WHERE status <> 'COMPLETED' AND expires_at IS NOT NULL;

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

-- Units taken for orders. RESERVED: for an order about to commit. CONFIRMED: for an order that
-- exists. RELEASED: the unit was returned. units is the number taken from the stock: 0 for an offering
-- without finite stock. A confirmed row is kept, because its unit can still be released. The primary key
-- serves confirming and releasing.
CREATE TABLE reservations (
    tenant_id       uuid        NOT NULL,
    order_id        uuid        PRIMARY KEY,
    reservation_key bytea       NOT NULL CHECK (octet_length(reservation_key) BETWEEN 1 AND 256),
    sku_id          uuid        REFERENCES skus (id),
    units           int         NOT NULL CHECK (units IN (0, 1)),
    state           text        NOT NULL CHECK (state IN ('RESERVED', 'CONFIRMED', 'RELEASED')),
    expires_at      timestamptz NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT reservations_sku CHECK (state = 'RELEASED' OR sku_id IS NOT NULL)
);
-- Rows are found by their order alone. Logical replication of a tenant's rows needs tenant_id, too.
ALTER TABLE reservations REPLICA IDENTITY FULL;
-- Serves a repeated attempt. A key holds at most one unit for an order about to commit. Once that unit
-- is confirmed or released, the key may reserve for another order.
CREATE UNIQUE INDEX reservations_held_key ON reservations (reservation_key) WHERE state = 'RESERVED';
-- Serves the search for reservations that were neither confirmed nor released.
CREATE INDEX reservations_expiry ON reservations (expires_at, order_id) WHERE state = 'RESERVED';
-- Serves the retention: a released reservation holds no unit and is deleted later. A confirmed one stays
-- for ever: its order can be cancelled at any time, and its unit must then be returned.
CREATE INDEX reservations_released ON reservations (expires_at) WHERE state = 'RELEASED';
-- Serves the erasure of a tenant.
CREATE INDEX reservations_tenant ON reservations (tenant_id);
-- Serves the check that no reservation refers to a combination that is deleted.
CREATE INDEX reservations_of_sku ON reservations (sku_id) WHERE sku_id IS NOT NULL;

-- reserve_unit takes a unit in one round trip, or returns the one that the key holds. Locks are taken
-- in the order key, reservation, SKU; confirming and releasing take the last two in the same order.
-- An expiry never changes: the recovery may already be asking whether the order exists.
--
-- It raises GF001 without stock, GF002 when the campaign does not offer the combination, GF003 while
-- the key still holds a unit of another combination, GF004 when the order is that of another key.
-- +goose StatementBegin
CREATE FUNCTION reserve_unit(
    p_key bytea, p_order_id uuid, p_tenant_id uuid, p_campaign_id uuid, p_product_id uuid,
    p_variations_key bytea, p_ttl interval
) RETURNS TABLE (reserved_order_id uuid, reserved_until timestamptz) LANGUAGE plpgsql AS $$
DECLARE
    held   reservations%ROWTYPE;
    wanted record;
BEGIN
    -- A second caller with the key waits here until the first has committed or failed. Waiting on the
    -- unique indexes instead can deadlock: two inserts may meet in them in opposite orders.
    PERFORM pg_advisory_xact_lock(hashtextextended(encode(p_key, 'hex'), 0));

    -- Not locked: no other caller reserves for the key now. It makes no difference whether the unit is
    -- confirmed or released right after this read or right after the answer.
    SELECT r.* INTO held FROM reservations r WHERE r.reservation_key = p_key AND r.state = 'RESERVED';
    IF FOUND THEN
        IF NOT EXISTS (
            SELECT FROM skus s
            WHERE s.id = held.sku_id AND s.tenant_id = p_tenant_id AND s.campaign_id = p_campaign_id
              AND s.product_id = p_product_id AND s.variations_key = p_variations_key
        ) THEN
            RAISE EXCEPTION 'the key holds a unit of another combination' USING ERRCODE = 'GF003';
        END IF;
        RETURN QUERY SELECT held.order_id, held.expires_at;
        RETURN;
    END IF;

    -- The row gets its SKU only below, after the stock: a foreign key takes a weak lock on the SKU, and
    -- a caller that then needs a stronger one can deadlock with a release. A failure undoes the row too.
    INSERT INTO reservations (order_id, reservation_key, tenant_id, units, state, expires_at)
    VALUES (p_order_id, p_key, p_tenant_id, 0, 'RELEASED', clock_timestamp())
    ON CONFLICT (order_id) DO NOTHING;
    SELECT r.* INTO STRICT held FROM reservations r WHERE r.order_id = p_order_id FOR UPDATE;
    IF held.reservation_key <> p_key THEN
        RAISE EXCEPTION 'the order is that of another key' USING ERRCODE = 'GF004';
    END IF;
    -- The order exists and has its unit.
    IF held.state = 'CONFIRMED' THEN
        RETURN QUERY SELECT held.order_id, held.expires_at;
        RETURN;
    END IF;

    SELECT s.id, CASE o.supply_type WHEN 'STOCKED' THEN 1 ELSE 0 END AS units INTO wanted
    FROM skus s
    JOIN offerings o ON o.tenant_id = s.tenant_id AND o.campaign_id = s.campaign_id AND o.product_id = s.product_id
    WHERE s.tenant_id = p_tenant_id AND s.campaign_id = p_campaign_id
      AND s.product_id = p_product_id AND s.variations_key = p_variations_key AND s.offered;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such combination' USING ERRCODE = 'GF002';
    END IF;
    IF wanted.units = 1 THEN
        UPDATE skus SET stock = stock - 1 WHERE id = wanted.id AND stock > 0;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'no stock' USING ERRCODE = 'GF001';
        END IF;
    END IF;
    RETURN QUERY
    UPDATE reservations r
    SET tenant_id = p_tenant_id, sku_id = wanted.id, units = wanted.units,
        state = 'RESERVED', expires_at = clock_timestamp() + p_ttl
    WHERE r.order_id = p_order_id
    RETURNING r.order_id, r.expires_at;
END
$$;
-- +goose StatementEnd

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

-- How a tenant of the sandbox has changed a gift. All tenants share the gifts, so the change is beside the gift and holds for the
-- tenant's readers only. Production has none. updated_at is that of products, for these readers.
CREATE TABLE sandbox_products (
    tenant_id  uuid        NOT NULL,
    product_id uuid        NOT NULL REFERENCES products (id),
    unlisted   boolean     NOT NULL,
    -- Countries that differ from those of the gift.
    added      text[]      NOT NULL,
    removed    text[]      NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, product_id)
);
-- Serves next_change.
CREATE INDEX sandbox_products_changed ON sandbox_products (updated_at);

-- The gifts as the readers of a tenant of the sandbox see them. It is part of the statement that calls it, but unlike products it has
-- no index for the order of changes: a page of them reads every gift.
CREATE FUNCTION sandbox_gifts(p_tenant_id uuid) RETURNS TABLE (
    id uuid, state text, published_once boolean, name text, description text, translations jsonb, variations jsonb, categories text[],
    available_countries text[], images jsonb, customization_available boolean, gift_set boolean, ready_to_send boolean,
    updated_at timestamptz
) LANGUAGE sql STABLE AS $$
    SELECT p.id, CASE WHEN s.unlisted AND p.state = 'PUBLISHED' THEN 'ARCHIVED' ELSE p.state END, p.published_once, p.name,
      p.description, p.translations, p.variations, p.categories,
      CASE WHEN s.product_id IS NULL THEN p.available_countries ELSE ARRAY(
        SELECT DISTINCT c COLLATE "C" FROM unnest(p.available_countries || s.added) AS c WHERE c <> ALL (s.removed) ORDER BY 1
      ) END,
      p.images, p.customization_available, p.gift_set, p.ready_to_send, greatest(p.updated_at, s.updated_at)
    FROM products p LEFT JOIN sandbox_products s ON s.tenant_id = p_tenant_id AND s.product_id = p.id
$$;

-- The one clock of what readers see: when a gift changed, and whether a campaign has completed.
CREATE FUNCTION catalog_now() RETURNS timestamptz LANGUAGE sql VOLATILE AS 'SELECT clock_timestamp()';

-- The updated_at of a change. It is later than that of every earlier change, even if the clock was set
-- back, so what a reader has is always older than what it has not seen. Changes for one tenant of the sandbox are in the order of all
-- changes. The caller holds the advisory lock of all changes.
CREATE FUNCTION next_change() RETURNS timestamptz LANGUAGE sql VOLATILE AS
$$SELECT greatest(catalog_now(), (SELECT max(updated_at) FROM products WHERE published_once) + interval '1 microsecond',
  (SELECT max(updated_at) FROM sandbox_products) + interval '1 microsecond')$$;

-- What people did with gifts, campaigns and stock through the operations plane. subject_id is the gift
-- or the campaign. actor_id is an id, never a name. The id of a stock correction is the caller's: a
-- repeated one is found here. Rows are appended and, after a year, deleted.
CREATE TABLE catalog_audit (
    -- Null for a change of a gift for all tenants.
    tenant_id  uuid,
    id         uuid        PRIMARY KEY,
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor_kind text        NOT NULL CHECK (actor_kind IN ('TENANT_ACCOUNT', 'TENANT_CLIENT', 'BACKOFFICE_ACCOUNT', 'SYSTEM')),
    actor_id   text        NOT NULL CHECK (char_length(actor_id) <= 128),
    action     text        NOT NULL,
    subject_id uuid        NOT NULL,
    detail     jsonb       NOT NULL
);
-- Rows are found by their id alone. Logical replication of a tenant's rows needs tenant_id, too.
ALTER TABLE catalog_audit REPLICA IDENTITY FULL;
-- Serves the report of a tenant's erasure.
CREATE INDEX catalog_audit_tenant ON catalog_audit (tenant_id) WHERE tenant_id IS NOT NULL;
-- Serves the audit of a gift or a campaign, newest first.
CREATE INDEX catalog_audit_subject ON catalog_audit (subject_id, at DESC, id DESC);
-- Serves the retention.
CREATE INDEX catalog_audit_at ON catalog_audit (at);

-- +goose StatementBegin
CREATE FUNCTION catalog_audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND OLD.at < clock_timestamp() - interval '365 days' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'catalog_audit is append-only' USING ERRCODE = 'insufficient_privilege';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER catalog_audit_rows_stay BEFORE UPDATE OR DELETE ON catalog_audit
    FOR EACH ROW EXECUTE FUNCTION catalog_audit_append_only();
-- The audit is emptied by no statement, as in the other services.
CREATE TRIGGER catalog_audit_stays BEFORE TRUNCATE ON catalog_audit
    FOR EACH STATEMENT EXECUTE FUNCTION catalog_audit_append_only();
