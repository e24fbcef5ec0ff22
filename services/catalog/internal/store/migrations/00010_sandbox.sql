-- +goose Up

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

-- Changes for one tenant are in the order of all changes.
CREATE OR REPLACE FUNCTION next_change() RETURNS timestamptz LANGUAGE sql VOLATILE AS
$$SELECT greatest(catalog_now(), (SELECT max(updated_at) FROM products WHERE published_once) + interval '1 microsecond',
  (SELECT max(updated_at) FROM sandbox_products) + interval '1 microsecond')$$;
