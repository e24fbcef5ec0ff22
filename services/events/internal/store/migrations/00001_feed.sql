-- +goose Up

-- The events of all tenants in the order in which they are read. A tenant's events come from one Kafka
-- partition, whose writer locks its row of feed_writers while it inserts. So within a tenant the order of
-- (day, position) is the order in which rows become visible: a reader that has seen a row never sees an
-- earlier one appear.
CREATE TABLE feed (
    tenant_id     uuid        NOT NULL,
    -- Day of insertion, not of the change: it never goes back within a Kafka partition.
    day           date        NOT NULL,
    position      bigint      NOT NULL,
    event_id      uuid        NOT NULL,
    type          text        NOT NULL,
    brand_id      uuid        NOT NULL,
    subject_id    uuid        NOT NULL,
    -- Key whose own request made the change; 0 if no key made it.
    origin_key_id int         NOT NULL,
    occurred_at   timestamptz NOT NULL,
    recorded_at   timestamptz NOT NULL,
    -- The record after the change as JSON, byte for byte as it was recorded.
    data          bytea       NOT NULL,
    -- Serves the feed: a tenant's events after a cursor.
    CONSTRAINT feed_pkey PRIMARY KEY (tenant_id, day, position),
    -- Serves the writer's search for events that it already has. It is unique within a day; the search covers
    -- all days on which the event can have been inserted.
    CONSTRAINT feed_event UNIQUE (event_id, day)
) PARTITION BY RANGE (day);

-- No CACHE: a session would use its cached values after another session has used higher ones.
CREATE SEQUENCE feed_position AS bigint NO CYCLE CACHE 1;

-- One row per Kafka partition. The process that locks it is the only writer of the partition's tenants, even if
-- another one still believes that it consumes the partition.
CREATE TABLE feed_writers (
    kafka_partition int    PRIMARY KEY,
    next_offset     bigint NOT NULL,
    last_day        date   NOT NULL
);

-- The newest event of each tenant, so that a poll without new events reads no partition.
CREATE TABLE feed_tenants (
    tenant_id     uuid   PRIMARY KEY,
    last_position bigint NOT NULL
) WITH (fillfactor = 70);

-- The newest event of each tenant that retention has dropped: a cursor before it has lost events.
CREATE TABLE feed_dropped (
    tenant_id uuid   PRIMARY KEY,
    position  bigint NOT NULL
);
