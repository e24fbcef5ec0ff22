-- +goose Up

-- Changes that are not published yet. The relay reads the visible rows in the order of (recorded_at, id),
-- publishes them and deletes them, so the table is nearly always empty.
CREATE TABLE outbox (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Clock of the insert, not of the transaction's start: the relay orders by it across services.
    recorded_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    event_id      uuid        NOT NULL,
    tenant_id     uuid        NOT NULL,
    brand_id      uuid        NOT NULL,
    subject_id    uuid        NOT NULL,
    type          text        NOT NULL,
    origin_key_id int         NOT NULL DEFAULT 0,
    occurred_at   timestamptz NOT NULL,
    data          bytea       NOT NULL,
    traceparent   text        NOT NULL DEFAULT ''
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);

-- Serves the relay's read: the oldest rows up to a clock.
CREATE INDEX outbox_recorded ON outbox (recorded_at, id);

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
GRANT SELECT, DELETE ON outbox TO gifting_relay;
