-- +goose Up

-- The body of every event that at least one key receives, stored once for all keys. An event in this table
-- has been fanned out.
CREATE TABLE events (
    tenant_id  uuid        NOT NULL,
    event_id   uuid        NOT NULL,
    type       text        NOT NULL,
    -- The envelope, the bytes that are signed and sent.
    body       bytea       NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, event_id)
);

-- One row per event and key: the queue, the state and the head of the log.
CREATE TABLE deliveries (
    tenant_id       uuid        NOT NULL,
    event_id        uuid        NOT NULL,
    key_id          int         NOT NULL,
    state           text        NOT NULL DEFAULT 'PENDING',
    -- Attempts that counted. A failure on our side does not count.
    attempts        smallint    NOT NULL DEFAULT 0,
    -- When the row is due; while the row is leased, when the lease ends. With one column for both, "due" is
    -- one condition, and a row whose sender died becomes due by itself.
    next_attempt_at timestamptz,
    -- The claim that is sending the row now.
    lease_token     uuid,
    created_at      timestamptz NOT NULL,
    finished_at     timestamptz,
    PRIMARY KEY (tenant_id, event_id, key_id),
    FOREIGN KEY (tenant_id, event_id) REFERENCES events (tenant_id, event_id) ON DELETE CASCADE,
    CONSTRAINT deliveries_state CHECK (state IN ('PENDING', 'DELIVERED', 'FAILED', 'DROPPED')),
    CONSTRAINT deliveries_attempts CHECK (attempts BETWEEN 0 AND 8),
    CONSTRAINT deliveries_due_while_pending CHECK ((state = 'PENDING') = (next_attempt_at IS NOT NULL)),
    CONSTRAINT deliveries_finished_once CHECK ((state = 'PENDING') = (finished_at IS NULL)),
    CONSTRAINT deliveries_lease_while_pending CHECK (state = 'PENDING' OR lease_token IS NULL)
)
-- Every delivery leaves dead rows in the indexes of the claim. They must be vacuumed early, even if the table
-- has many finished rows.
WITH (autovacuum_vacuum_scale_factor = 0.01);

-- Serves the claim: the first due row of each endpoint, then its due rows in order.
CREATE INDEX deliveries_due ON deliveries (tenant_id, key_id, next_attempt_at) WHERE state = 'PENDING';

-- Serves the claim: how many rows of an endpoint are being sent; and the release of claimed rows.
CREATE INDEX deliveries_leased ON deliveries (tenant_id, key_id) WHERE lease_token IS NOT NULL;

-- The log: every attempt that counted.
CREATE TABLE attempts (
    tenant_id       uuid        NOT NULL,
    event_id        uuid        NOT NULL,
    key_id          int         NOT NULL,
    number          smallint    NOT NULL,
    started_at      timestamptz NOT NULL,
    duration_ms     int         NOT NULL,
    -- Null: there was no response.
    response_status int,
    -- Null: delivered.
    problem         text,
    -- The beginning of the response's body.
    response_body   bytea       NOT NULL,
    PRIMARY KEY (tenant_id, event_id, key_id, number),
    FOREIGN KEY (tenant_id, event_id, key_id)
        REFERENCES deliveries (tenant_id, event_id, key_id) ON DELETE CASCADE,
    CONSTRAINT attempts_body_short CHECK (octet_length(response_body) <= 1024)
);

-- Endpoints that are temporarily not claimed because the tenant's API access is switched off: one row per
-- endpoint, rather than a new due time for each of its many deliveries.
CREATE TABLE pauses (
    tenant_id uuid        NOT NULL,
    key_id    int         NOT NULL,
    until     timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, key_id)
);

-- Messages from Kafka that are not valid changes, kept for a person to look at; the partition continues after
-- them. They belong to no tenant.
CREATE TABLE rejected_messages (
    topic       text        NOT NULL,
    partition   int         NOT NULL,
    "offset"    bigint      NOT NULL,
    reason      text        NOT NULL,
    value       bytea       NOT NULL,
    rejected_at timestamptz NOT NULL,
    PRIMARY KEY (topic, partition, "offset")
);
