-- +goose Up

-- Personal links. A link with a campaign offers the gifts of the campaign; a link without one offers a
-- selection of the catalog.
CREATE TABLE links (
    tenant_id             uuid        NOT NULL,
    id                    uuid        NOT NULL,
    brand_id              uuid        NOT NULL,
    campaign_id           uuid,
    external_recipient_id text        CHECK (char_length(external_recipient_id) BETWEEN 1 AND 128),
    status                text        NOT NULL
        CHECK (status IN ('REQUESTED', 'ACTIVE', 'CLAIMED', 'EXPIRED', 'CANCELLED')),
    -- The URL lets its holder claim a gift. It is sealed, with the link's id as associated data.
    claim_url_sealed      bytea       NOT NULL,
    order_id              uuid,
    created_at            timestamptz NOT NULL,
    approved_at           timestamptz,
    claimed_at            timestamptz,
    cancelled_at          timestamptz,
    updated_at            timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT links_claimed CHECK
        ((status = 'CLAIMED') = (claimed_at IS NOT NULL) AND (status = 'CLAIMED') = (order_id IS NOT NULL)),
    CONSTRAINT links_cancelled CHECK ((status = 'CANCELLED') = (cancelled_at IS NOT NULL)),
    CONSTRAINT links_order_of_changes CHECK (updated_at >= created_at)
);

-- Serves the list, newest first, without a filter or by status.
CREATE INDEX links_newest ON links (tenant_id, created_at DESC, id DESC);
-- Serves the list of what changed since an instant.
CREATE INDEX links_changed ON links (tenant_id, updated_at, id);
-- Serves the list of one recipient's links.
CREATE INDEX links_recipient ON links (tenant_id, external_recipient_id, created_at DESC, id DESC)
    WHERE external_recipient_id IS NOT NULL;
-- Serves the list of one campaign's links.
CREATE INDEX links_campaign ON links (tenant_id, campaign_id, created_at DESC, id DESC)
    WHERE campaign_id IS NOT NULL;
