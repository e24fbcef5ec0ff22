-- +goose Up

-- The key that sealed a member of an event, as the beginning of a sealed value names it: a byte with the length of its id, and the
-- id. NULL if no member is sealed. Package seal defines the form. The function never fails, because inserts call it. Owners
-- whose tables hold events have the same one.
-- +goose StatementBegin
CREATE FUNCTION event_seal_key(data bytea) RETURNS bytea LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $body$
DECLARE
    -- Where the Base64 text of the sealed value begins.
    begins int := position('"claimUrl":{"$sealed":"'::bytea IN data) + 23;
    raw    bytea;
BEGIN
    IF begins = 23 THEN
        begins := position('"body":{"$sealed":"'::bytea IN data) + 19;
        IF begins = 19 THEN
            RETURN NULL;
        END IF;
    END IF;
    -- 44 characters are the longest id with its length. They are valid Base64 whatever the value holds.
    raw := decode(rpad(coalesce(substring(encode(substring(data FROM begins FOR 44), 'escape') FROM '^[A-Za-z0-9+/]+'), ''), 44, 'A'), 'base64');
    RETURN substring(raw FOR get_byte(raw, 0) + 1);
END
$body$;
-- +goose StatementEnd

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

-- Serves the check of the event keys: the keys in use, and some events of each.
CREATE INDEX feed_event_key ON feed (event_seal_key(data)) WHERE event_seal_key(data) IS NOT NULL;

-- No CACHE: a session would use its cached values after another session has used higher ones.
CREATE SEQUENCE feed_position AS bigint NO CYCLE CACHE 1;

-- One row per Kafka partition. The process that locks it is the only writer of the partition's tenants, even if
-- another one still believes that it consumes the partition.
CREATE TABLE feed_writers (
    kafka_partition int         PRIMARY KEY,
    next_offset     bigint      NOT NULL,
    -- The message before next_offset, to compare with the one that Kafka has at its offset. Empty and null: none was stored there.
    last_id         text        NOT NULL DEFAULT '',
    last_time       timestamptz,
    last_day        date        NOT NULL
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

-- An epoch begins whenever the database may have gone back to an earlier state: positions after that state were lost, and
-- the new epoch uses their numbers again. A cursor names its epoch, and is good up to the last position that survived in
-- every later epoch. Epochs are never deleted.
CREATE TABLE feed_epochs (
    number   int         PRIMARY KEY,
    -- The name of the epoch in cursors. It is random, because a restored database begins the same number again.
    id       bigint      NOT NULL UNIQUE,
    -- The newest position that was used before the epoch began.
    survived bigint      NOT NULL,
    -- What the server said of itself: system identifier, timeline, oid of the database, when it was started.
    server   text        NOT NULL,
    reason   text        NOT NULL,
    began_at timestamptz NOT NULL DEFAULT now()
);
INSERT INTO feed_epochs (number, id, survived, server, reason)
SELECT 1, 1 + floor(random() * 4294967295)::bigint, 0,
       concat_ws('/', (SELECT system_identifier FROM pg_control_system()), left(pg_walfile_name(pg_current_wal_lsn()), 8),
                 (SELECT oid FROM pg_database WHERE datname = current_database()),
                 extract(epoch FROM pg_postmaster_start_time())),
       'first installation';

-- The number of partitions of the topic when it was first used. The partition of a tenant follows from it.
CREATE TABLE feed_topic (
    only_row   bool PRIMARY KEY DEFAULT true CHECK (only_row),
    partitions int  NOT NULL
);
