-- +goose Up

-- Tenants that are disabled, are being erased, or were erased. A row of an erased tenant stays for ever: it keeps the id from being
-- used again, and says where rows of the tenant may come back from a restored database. It has no personal data.
CREATE TABLE offboardings (
    tenant_id       uuid        PRIMARY KEY,
    state           text        NOT NULL CHECK (state IN ('DISABLED', 'ERASING', 'ERASED')),
    requested_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    erase_after     timestamptz NOT NULL,
    actor_kind      text        NOT NULL CHECK (actor_kind IN ('BACKOFFICE_ACCOUNT', 'SYSTEM')),
    actor_id        text        NOT NULL CHECK (char_length(actor_id) <= 128),
    -- What the tenant gets back if the off-boarding is cancelled.
    api_access      boolean     NOT NULL,
    -- All keys that the tenant ever had: some rows of other services name only a key.
    key_ids         int[]       NOT NULL,
    erased_at       timestamptz,
    checked_at      timestamptz,
    -- What the erasure waited for when it was last tried.
    waiting_for     text[]      NOT NULL DEFAULT '{}',
    -- When a worker looks at the row again; a worker that holds it moves this ahead.
    next_attempt_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT offboardings_erased CHECK ((state = 'ERASED') = (erased_at IS NOT NULL))
);
-- Serves the worker.
CREATE INDEX offboardings_due ON offboardings (next_attempt_at);

-- The report: how many rows each table had before and after the erasure.
CREATE TABLE offboarding_tables (
    tenant_id   uuid        NOT NULL,
    service     text        NOT NULL,
    table_name  text        NOT NULL,
    rows_before bigint      NOT NULL CHECK (rows_before >= 0),
    before_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    rows_after  bigint      CHECK (rows_after >= 0),
    after_at    timestamptz,
    -- Why the rows are not erased; empty: they are.
    kept        text        NOT NULL,
    PRIMARY KEY (tenant_id, service, table_name)
);

-- Who did what, also of an off-boarding that was cancelled. Rows are appended and never changed.
CREATE TABLE offboarding_steps (
    id         bigint      GENERATED ALWAYS AS IDENTITY,
    tenant_id  uuid        NOT NULL,
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    action     text        NOT NULL,
    actor_kind text        NOT NULL CHECK (actor_kind IN ('BACKOFFICE_ACCOUNT', 'SYSTEM')),
    actor_id   text        NOT NULL CHECK (char_length(actor_id) <= 128),
    PRIMARY KEY (tenant_id, id)
);

-- +goose StatementBegin
CREATE FUNCTION offboarding_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER offboarding_steps_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON offboarding_steps
    FOR EACH STATEMENT EXECUTE FUNCTION offboarding_stays();
-- +goose StatementBegin
CREATE FUNCTION offboarding_begun_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.state = 'DISABLED' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'an erasure that has begun stays' USING ERRCODE = 'insufficient_privilege';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER offboardings_begun_stay BEFORE DELETE ON offboardings
    FOR EACH ROW EXECUTE FUNCTION offboarding_begun_stays();
