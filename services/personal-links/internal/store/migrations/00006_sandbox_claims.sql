-- +goose Up

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
