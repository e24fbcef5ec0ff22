-- +goose Up

-- What players have entered on the pages of links so far, for a day. The previous version writes and reads no drafts.
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
-- Serves the check of the seal keys. The expression is that of package ringcheck.
CREATE INDEX form_drafts_draft_key ON form_drafts
    ((CASE WHEN length(draft_sealed) > 0 THEN substring(draft_sealed FOR get_byte(draft_sealed, 0) + 1) END)) WHERE draft_sealed IS NOT NULL;
