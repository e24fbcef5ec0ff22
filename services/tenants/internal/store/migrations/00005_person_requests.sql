-- +goose Up

-- What people asked to be erased or exported, and how far that is. It has no personal data: the person is a keyed hash, and
-- actor_id is an id, never a name. A completed row is kept as the audit and, after a year at the earliest, deleted.
CREATE TABLE person_requests (
    tenant_id        uuid        NOT NULL,
    -- Chosen by the caller of an erasure.
    id               uuid        NOT NULL,
    action           text        NOT NULL CHECK (action IN ('ERASE', 'EXPORT')),
    subject_kind     text        NOT NULL CHECK (subject_kind IN ('EXTERNAL_RECIPIENT', 'ORDER', 'PERSONAL_LINK')),
    subject_mac      bytea       NOT NULL,
    actor_kind       text        NOT NULL CHECK (actor_kind IN ('TENANT_ACCOUNT', 'BACKOFFICE_ACCOUNT')),
    actor_id         text        NOT NULL CHECK (char_length(actor_id) <= 128),
    requested_at     timestamptz NOT NULL DEFAULT now(),
    link_ids         uuid[]      NOT NULL,
    order_ids        uuid[]      NOT NULL,
    links_erased_at  timestamptz,
    orders_erased_at timestamptz,
    completed_at     timestamptz,
    -- When the platform tries again, unless completed.
    next_attempt_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT person_requests_completed CHECK (
        completed_at IS NULL OR action = 'EXPORT' OR links_erased_at IS NOT NULL AND orders_erased_at IS NOT NULL
    )
);
-- Serves the worker that continues erasures.
CREATE INDEX person_requests_pending ON person_requests (next_attempt_at) WHERE completed_at IS NULL;
-- Serves the retention.
CREATE INDEX person_requests_over ON person_requests (completed_at) WHERE completed_at IS NOT NULL;

-- +goose StatementBegin
CREATE FUNCTION person_requests_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.completed_at IS NULL THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'DELETE' AND OLD.completed_at < clock_timestamp() - interval '365 days' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'completed person_requests are append-only' USING ERRCODE = 'insufficient_privilege';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER person_requests_rows_stay BEFORE UPDATE OR DELETE ON person_requests
    FOR EACH ROW EXECUTE FUNCTION person_requests_stay();
CREATE TRIGGER person_requests_table_stays BEFORE TRUNCATE ON person_requests
    FOR EACH STATEMENT EXECUTE FUNCTION person_requests_stay();
