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

-- The body of every event that at least one key receives, stored once for all keys. An event in this table
-- has been fanned out.
CREATE TABLE events (
    tenant_id   uuid        NOT NULL,
    event_id    uuid        NOT NULL,
    type        text        NOT NULL,
    -- The brand of the event's record: a key that was limited to other brands since does not get the event again.
    brand_id    uuid        NOT NULL,
    -- The order or link of the event, whose events are erased with its person.
    subject_id  uuid        NOT NULL,
    -- The envelope, the bytes that are signed and sent.
    body        bytea       NOT NULL,
    -- The trace in which the event was fanned out, as a W3C traceparent; empty if it is not recorded. The
    -- event's deliveries belong to that trace.
    traceparent text        NOT NULL DEFAULT '',
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, event_id)
);
-- Serves the erasure of a person: the events of orders and links.
CREATE INDEX events_of_subject ON events (tenant_id, subject_id);
-- Serves the check of the event keys: the keys in use, and some events of each.
CREATE INDEX events_event_key ON events (event_seal_key(body)) WHERE event_seal_key(body) IS NOT NULL;

-- One row per event and key: the queue, the state and the head of the log.
--
-- The server parses a table's CHECKs in every statement that writes to the table, and checks a foreign key by an
-- extra statement. Three statements write deliveries, a few rows each: constraints took a third of their time.
-- Those statements keep the conditions themselves, and tests check them.
CREATE TABLE deliveries (
    tenant_id       uuid        NOT NULL,
    event_id        uuid        NOT NULL,
    key_id          int         NOT NULL,
    -- PENDING, DELIVERED, FAILED or DROPPED.
    state           text        NOT NULL DEFAULT 'PENDING',
    -- Attempts that counted, since the delivery was sent again. A failure on our side does not count.
    attempts        smallint    NOT NULL DEFAULT 0,
    -- The earlier ones. The log counts all of them.
    attempts_before smallint    NOT NULL DEFAULT 0,
    -- When the row is due; while the row is leased, when the lease ends. With one column for both, "due" is
    -- one condition, and a row whose sender died becomes due by itself. Null once the delivery has ended.
    next_attempt_at timestamptz,
    -- The claim that is sending the row now.
    lease_token     uuid,
    -- The sender that holds the row's lease; 0 while it is not leased.
    leased_by       bigint      NOT NULL DEFAULT 0,
    created_at      timestamptz NOT NULL,
    finished_at     timestamptz,
    PRIMARY KEY (tenant_id, event_id, key_id)
)
-- Every delivery leaves dead rows in the indexes of the claim. They must be vacuumed early, even if the table
-- has many finished rows.
WITH (autovacuum_vacuum_scale_factor = 0.01);

-- Serves the claim: the first due row of each endpoint, then its due rows in order.
CREATE INDEX deliveries_due ON deliveries (tenant_id, key_id, next_attempt_at) WHERE state = 'PENDING';
-- Serves the claim: how many rows of an endpoint each sender is sending. The end of the lease lets it skip the entries of leases
-- that have ended. Also serves the release of claimed rows.
CREATE INDEX deliveries_leased_by ON deliveries (tenant_id, key_id, leased_by, next_attempt_at)
    WHERE lease_token IS NOT NULL;
-- Serves the retention: the deliveries that finished first.
CREATE INDEX deliveries_finished ON deliveries (finished_at) WHERE finished_at IS NOT NULL;
-- Serves the log of a key, newest event first: the ids of events grow with time.
CREATE INDEX deliveries_of_key ON deliveries (tenant_id, key_id, event_id);
-- Serves the log of a key, newest event first, of deliveries that failed or were dropped. Those that are delivered have no entry, so
-- it costs the usual delivery nothing.
CREATE INDEX deliveries_ended ON deliveries (tenant_id, key_id, state, event_id)
    WHERE state IN ('FAILED', 'DROPPED');

-- The log: every attempt that counted. It has no constraints, as deliveries.
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
    PRIMARY KEY (tenant_id, event_id, key_id, number)
);
-- Serves the health of a key: its last success, the first failure after that, and its last failure.
CREATE INDEX attempts_of_key ON attempts (tenant_id, key_id, (problem IS NULL), started_at);

-- Attempts are deleted with their delivery.
-- +goose StatementBegin
CREATE FUNCTION delete_attempts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM attempts a USING gone g
     WHERE a.tenant_id = g.tenant_id AND a.event_id = g.event_id AND a.key_id = g.key_id;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER deliveries_deleted AFTER DELETE ON deliveries
    REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION delete_attempts();

-- Endpoints that are temporarily not claimed because the tenant's API access is switched off: one row per
-- endpoint, rather than a new due time for each of its many deliveries.
CREATE TABLE pauses (
    tenant_id uuid        NOT NULL,
    key_id    int         NOT NULL,
    until     timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, key_id)
);

-- The senders whose leases a claim counts. A sender knows its own deliveries in flight, so it counts only those of the others:
-- an endpoint's index entries of finished leases cannot be removed while an old snapshot is open, and most are its own.
CREATE TABLE senders (
    id      bigint      PRIMARY KEY,
    seen_at timestamptz NOT NULL
);

-- How far each partition of the topic has been fanned out. A batch of messages moves its row in the transaction that stores its
-- deliveries, so the row goes back with them if the database is restored to an earlier state.
CREATE TABLE fan_out_offsets (
    kafka_partition int    PRIMARY KEY,
    -- -1: nothing has been stored.
    next_offset     bigint NOT NULL,
    -- The event of the message before next_offset, to compare with the one that Kafka has there; empty if it is not known.
    last_id         text   NOT NULL DEFAULT '',
    last_time       timestamptz
) WITH (fillfactor = 50);

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
