-- +goose Up

-- One row per order. Every channel may see its columns, except details_sealed: only that column has data
-- that names or locates a person.
CREATE TABLE orders (
    tenant_id                     uuid        NOT NULL,
    id                            uuid        NOT NULL,
    reference                     text        NOT NULL CONSTRAINT orders_reference UNIQUE,
    version                       bigint      NOT NULL DEFAULT 0 CHECK (version >= 0),
    external_order_id             text,
    external_recipient_id         text,
    external_campaign_ref         text,
    external_action_ref           text,
    source                        text        NOT NULL CHECK (source IN ('API', 'PERSONAL_LINK', 'WORKSPACE', 'BACKOFFICE')),
    brand_id                      uuid        NOT NULL,
    campaign_id                   uuid,
    catalog_selection             boolean     NOT NULL DEFAULT false,
    personal_link_id              uuid,
    status                        text        NOT NULL
        CHECK (status IN ('REQUESTED', 'PROCESSING', 'SENT', 'COMPLETED', 'CANCELLED')),
    -- The one item: a catalog gift has a product, a custom request a budget.
    item_kind                     text        NOT NULL CHECK (item_kind IN ('CATALOG', 'CUSTOM')),
    product_id                    uuid,
    product_name                  text        NOT NULL,
    variations                    jsonb       NOT NULL DEFAULT '{}',
    budget_amount                 numeric(12, 2) CHECK (budget_amount > 0),
    budget_currency               text,
    delivery_country              text        NOT NULL CHECK (length(delivery_country) = 2),
    urgent                        boolean     NOT NULL DEFAULT false,
    after_hours_service_accepted  boolean     NOT NULL DEFAULT false,
    branded_packaging_requested   boolean     NOT NULL DEFAULT false,
    received_outside_active_hours boolean     NOT NULL,
    manager_id                    uuid,
    -- The key that placed the order, with its name at that time; null for other channels.
    placed_by_key_id              int,
    placed_by_key_name            text,
    carrier                       text,
    tracking_reference            text,
    tracking_url                  text,
    cancellation_reason           text,
    details_sealed                bytea       NOT NULL,
    created_at                    timestamptz NOT NULL,
    updated_at                    timestamptz NOT NULL CHECK (updated_at >= created_at),

    PRIMARY KEY (tenant_id, id),
    CONSTRAINT orders_external_order_id UNIQUE (tenant_id, external_order_id),
    CHECK ((item_kind = 'CATALOG') = (product_id IS NOT NULL)),
    CHECK ((item_kind = 'CUSTOM') = (budget_amount IS NOT NULL AND budget_currency IS NOT NULL)),
    CHECK ((status = 'CANCELLED') = (cancellation_reason IS NOT NULL))
) WITH (fillfactor = 90);

-- Serves GET /orders: newest placed first.
CREATE INDEX orders_newest ON orders (tenant_id, created_at DESC, id DESC);
-- Serves GET /orders?externalRecipientId=…
CREATE INDEX orders_recipient ON orders (tenant_id, external_recipient_id, created_at DESC, id DESC)
    WHERE external_recipient_id IS NOT NULL;
-- Serves GET /orders?updatedSince=…
CREATE INDEX orders_updated ON orders (tenant_id, updated_at);

-- Decides once for each order with campaign stock whether it was placed or given up. The order's
-- transaction and the recovery worker both insert; the primary key lets only one of them succeed.
CREATE TABLE reservation_outcomes (
    order_id   uuid        PRIMARY KEY,
    outcome    text        NOT NULL CHECK (outcome IN ('PLACED', 'ABANDONED')),
    decided_at timestamptz NOT NULL DEFAULT now()
);
