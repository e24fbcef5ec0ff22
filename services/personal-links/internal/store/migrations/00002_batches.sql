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

ALTER TABLE links
    ADD COLUMN batch_id          uuid,
    -- Position in the batch's list of recipients.
    ADD COLUMN batch_index       int,
    ADD COLUMN locale            text NOT NULL DEFAULT 'en-US',
    -- Team member who manages the link and then its order.
    ADD COLUMN manager_id        uuid,
    -- SHA-256 of the token in the claim URL; the token itself is in no column.
    ADD COLUMN token_hash        bytea CHECK (octet_length(token_hash) = 32),
    -- Label, message, e-mail and answers to custom fields; null once erased.
    ADD COLUMN details_sealed    bytea,
    ADD COLUMN reason_sealed     bytea,
    -- A claim in flight: the order that it places, and when its lease ends.
    ADD COLUMN claim_order_id    uuid,
    ADD COLUMN claim_lease_until timestamptz,
    ADD CONSTRAINT links_in_batch CHECK ((batch_id IS NULL) = (batch_index IS NULL)),
    ADD CONSTRAINT links_mark CHECK (claim_order_id IS NULL OR status = 'ACTIVE'),
    ADD CONSTRAINT links_lease CHECK ((claim_order_id IS NULL) = (claim_lease_until IS NULL)),
    ADD CONSTRAINT links_reason CHECK (reason_sealed IS NULL OR status = 'CANCELLED');

-- Serves the claim page, which has only the token.
CREATE UNIQUE INDEX links_token ON links (token_hash) WHERE token_hash IS NOT NULL;
-- Serves the list and the approval of a batch.
CREATE UNIQUE INDEX links_batch ON links (tenant_id, batch_id, batch_index) WHERE batch_id IS NOT NULL;
-- Serves the recovery: the claims whose lease ended first.
CREATE INDEX links_leases ON links (claim_lease_until) WHERE claim_order_id IS NOT NULL;
-- Serves retention: ended links that still have details, by when they ended.
CREATE INDEX links_erasable ON links (updated_at)
    WHERE details_sealed IS NOT NULL AND status IN ('CLAIMED', 'EXPIRED', 'CANCELLED');

-- Who did what to a link. Rows are appended and never changed.
CREATE TABLE link_audit (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    tenant_id  uuid        NOT NULL,
    link_id    uuid        NOT NULL,
    action     text        NOT NULL CHECK (action IN ('APPROVED', 'CANCELLED')),
    actor_kind text        NOT NULL
        CHECK (actor_kind IN ('API_KEY', 'TENANT_ACCOUNT', 'BACKOFFICE_ACCOUNT', 'SYSTEM')),
    -- Id of the key, or of the person in the directory of the caller; empty for SYSTEM.
    actor_id   text        NOT NULL,
    at         timestamptz NOT NULL
);

-- Serves the audit of a link.
CREATE INDEX link_audit_link ON link_audit (tenant_id, link_id, id);

-- +goose StatementBegin
CREATE FUNCTION link_audit_is_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'link_audit is append-only' USING ERRCODE = 'restrict_violation';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER link_audit_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON link_audit
    FOR EACH STATEMENT EXECUTE FUNCTION link_audit_is_append_only();
