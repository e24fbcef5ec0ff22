-- +goose Up

-- Changes that are not confirmed yet. The relay reads the visible rows in the order of (recorded_at, id), publishes them, and deletes
-- them once all readers have stored them, so the table is nearly always empty.
CREATE TABLE outbox (
    tenant_id     uuid        NOT NULL,
    id            bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    event_id      uuid        NOT NULL,
    brand_id      uuid        NOT NULL,
    subject_id    uuid        NOT NULL,
    type          text        NOT NULL,
    origin_key_id int         NOT NULL DEFAULT 0,
    occurred_at   timestamptz NOT NULL,
    -- Clock of the insert, not of the transaction's start: the relay orders by it across services.
    recorded_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    data          bytea       NOT NULL,
    traceparent   text        NOT NULL DEFAULT '',
    -- When the relay learned that all readers have stored the change; only set if confirmed rows are kept for a time.
    confirmed_at  timestamptz
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
-- Rows are found by their id alone. Logical replication of a tenant's rows needs tenant_id, too.
ALTER TABLE outbox REPLICA IDENTITY FULL;

-- Serves the relay when more rows wait than one batch takes: when the earliest of the others was recorded. It is partial so
-- that no other statement uses it: under an old snapshot the statistics are so wrong that PostgreSQL would read all of it.
CREATE INDEX outbox_unconfirmed ON outbox (recorded_at) WHERE confirmed_at IS NULL;

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

-- Serves the check of the event keys: the keys in use, and some events of each.
CREATE INDEX outbox_event_key ON outbox (event_seal_key(data)) WHERE event_seal_key(data) IS NOT NULL;

-- The relay's login belongs to this role, which can do nothing else here.
-- +goose StatementBegin
DO $$
BEGIN
    -- If the role exists, no right to create roles is needed.
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'gifting_relay') THEN
        CREATE ROLE gifting_relay NOLOGIN;
    END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
    NULL; -- All databases of a server share their roles: another database has just created it.
WHEN insufficient_privilege THEN
    RAISE EXCEPTION 'the role gifting_relay is missing, and % may not create it: run CREATE ROLE gifting_relay NOLOGIN as an administrator, or giftingctl bootstrap databases',
        current_user USING ERRCODE = 'insufficient_privilege';
END
$$;
-- +goose StatementEnd
GRANT SELECT, DELETE, UPDATE (confirmed_at) ON outbox TO gifting_relay;
-- The relay reads the last id that was handed out, so that it does not look for rows with lower ids for ever.
GRANT SELECT ON SEQUENCE outbox_id_seq TO gifting_relay;
