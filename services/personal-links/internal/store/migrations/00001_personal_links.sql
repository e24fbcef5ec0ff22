-- +goose Up

-- What a batch of links offers. product_ids is empty for a campaign.
CREATE TABLE link_batches (
    tenant_id   uuid        NOT NULL,
    id          uuid        NOT NULL,
    product_ids uuid[]      NOT NULL,
    -- The key that sent the batch, with its name at that time.
    key_id      int         NOT NULL,
    key_name    text        NOT NULL,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

-- Personal links. A link with a campaign offers the gifts of the campaign; a link without one offers a
-- selection of the catalog.
CREATE TABLE links (
    tenant_id             uuid        NOT NULL,
    id                    uuid        NOT NULL,
    brand_id              uuid        NOT NULL,
    campaign_id           uuid,
    batch_id              uuid        NOT NULL,
    -- Position in the batch's list of recipients.
    batch_index           int         NOT NULL,
    external_recipient_id text        CHECK (char_length(external_recipient_id) BETWEEN 1 AND 128),
    status                text        NOT NULL
        CHECK (status IN ('REQUESTED', 'ACTIVE', 'CLAIMED', 'EXPIRED', 'CANCELLED')),
    locale                text        NOT NULL DEFAULT 'en-US',
    -- Team member who manages the link and then its order.
    manager_id            uuid,
    -- SHA-256 of the token in the claim URL; the token itself is in no column.
    token_hash            bytea       CHECK (octet_length(token_hash) = 32),
    -- The URL lets its holder claim a gift. It is sealed, with the link's id as associated data.
    claim_url_sealed      bytea       NOT NULL,
    -- Label, message, e-mail and answers to custom fields; null once erased.
    details_sealed        bytea,
    reason_sealed         bytea,
    -- A claim in flight: the order that it places, and when its lease ends.
    claim_order_id        uuid,
    claim_lease_until     timestamptz,
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
    CONSTRAINT links_order_of_changes CHECK (updated_at >= created_at),
    CONSTRAINT links_mark CHECK (claim_order_id IS NULL OR status = 'ACTIVE'),
    CONSTRAINT links_lease CHECK ((claim_order_id IS NULL) = (claim_lease_until IS NULL)),
    CONSTRAINT links_reason CHECK (reason_sealed IS NULL OR status = 'CANCELLED')
);

-- Serves the list, newest first.
CREATE INDEX links_newest ON links (tenant_id, created_at DESC, id DESC);
-- Serves the list of what changed since an instant.
CREATE INDEX links_changed ON links (tenant_id, updated_at, id);
-- Serves the list of one recipient's links.
CREATE INDEX links_recipient ON links (tenant_id, external_recipient_id, created_at DESC, id DESC)
    WHERE external_recipient_id IS NOT NULL;
-- Serves the list of one campaign's links.
CREATE INDEX links_campaign ON links (tenant_id, campaign_id, created_at DESC, id DESC)
    WHERE campaign_id IS NOT NULL;
-- Serves the list by status: few of many links may have it.
CREATE INDEX links_status ON links (tenant_id, status, created_at DESC, id DESC);
-- Serves the list of a key that is limited to brands, which may have few of the tenant's links.
CREATE INDEX links_brand ON links (tenant_id, brand_id, created_at DESC, id DESC);
-- Serves the claim page, which has only the token.
CREATE UNIQUE INDEX links_token ON links (token_hash) WHERE token_hash IS NOT NULL;
-- Serves the list and the approval of a batch.
CREATE UNIQUE INDEX links_batch ON links (tenant_id, batch_id, batch_index);
-- Serves the recovery: the claims whose lease ended first.
CREATE INDEX links_leases ON links (claim_lease_until) WHERE claim_order_id IS NOT NULL;
-- Serves retention: ended links that still have details, by when they ended.
CREATE INDEX links_erasable ON links (updated_at)
    WHERE details_sealed IS NOT NULL AND status IN ('CLAIMED', 'EXPIRED', 'CANCELLED');
-- Serves retention: links that nobody has claimed and that still have details, the oldest first.
CREATE INDEX links_unclaimed ON links (updated_at)
    WHERE details_sealed IS NOT NULL AND status IN ('REQUESTED', 'ACTIVE');
-- Serve the check of the seal keys: the keys in use, and some values of each. The expression is that of package seal.
CREATE INDEX links_claim_url_key ON links
    ((CASE WHEN length(claim_url_sealed) > 0 THEN substring(claim_url_sealed FOR get_byte(claim_url_sealed, 0) + 1) END));
CREATE INDEX links_details_key ON links
    ((CASE WHEN length(details_sealed) > 0 THEN substring(details_sealed FOR get_byte(details_sealed, 0) + 1) END))
    WHERE details_sealed IS NOT NULL;
CREATE INDEX links_reason_key ON links
    ((CASE WHEN length(reason_sealed) > 0 THEN substring(reason_sealed FOR get_byte(reason_sealed, 0) + 1) END))
    WHERE reason_sealed IS NOT NULL;

-- Who did what to a link. Rows are appended and never changed.
CREATE TABLE link_audit (
    tenant_id  uuid        NOT NULL,
    link_id    uuid        NOT NULL,
    id         bigint      GENERATED ALWAYS AS IDENTITY,
    action     text        NOT NULL CONSTRAINT link_audit_action CHECK (action IN ('APPROVED', 'CANCELLED', 'ERASED', 'EXPORTED')),
    actor_kind text        NOT NULL
        CHECK (actor_kind IN ('API_KEY', 'TENANT_ACCOUNT', 'BACKOFFICE_ACCOUNT', 'SYSTEM')),
    -- Id of the key, or of the person in the directory of the caller; empty for SYSTEM.
    actor_id   text        NOT NULL,
    at         timestamptz NOT NULL,
    -- Serves the audit of a link.
    PRIMARY KEY (tenant_id, link_id, id)
);

-- +goose StatementBegin
CREATE FUNCTION link_audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'link_audit is append-only' USING ERRCODE = 'restrict_violation';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER link_audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON link_audit
    FOR EACH STATEMENT EXECUTE FUNCTION link_audit_is_append_only();

-- What players have entered on the pages of links so far, for a day.
CREATE TABLE form_drafts (
    tenant_id    uuid        NOT NULL,
    id           uuid        NOT NULL,
    link_id      uuid        NOT NULL,
    -- SHA-256 of the random text that the player's browser keeps in a cookie.
    nonce_hash   bytea       NOT NULL CHECK (octet_length(nonce_hash) = 32),
    -- Gift, name and address.
    draft_sealed bytea       NOT NULL CHECK (octet_length(draft_sealed) <= 40000),
    expires_at   timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id),
    -- Serves the pages, and finds the drafts of a link.
    CONSTRAINT form_drafts_form UNIQUE (tenant_id, link_id, nonce_hash)
);

-- Serves retention: the drafts that expired first.
CREATE INDEX form_drafts_expiry ON form_drafts (expires_at);
-- Serves the check of the seal keys. The expression is that of package seal.
CREATE INDEX form_drafts_draft_key ON form_drafts
    ((CASE WHEN length(draft_sealed) > 0 THEN substring(draft_sealed FOR get_byte(draft_sealed, 0) + 1) END)) WHERE draft_sealed IS NOT NULL;

-- Links of the sandbox that are approved and claimed by themselves, with the time of their next step. A row is deleted after the
-- last step. Production has none.
CREATE TABLE sandbox_claims (
    tenant_id uuid        NOT NULL,
    link_id   uuid        NOT NULL,
    -- Time between two steps.
    pace      interval    NOT NULL CHECK (pace > '0'),
    -- The status in which the link stops; null: once it is claimed.
    stop      text        CHECK (stop IN ('ACTIVE', 'CLAIMED')),
    due_at    timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, link_id)
);

-- Serves the search for the steps that are due.
CREATE INDEX sandbox_claims_due ON sandbox_claims (due_at);
