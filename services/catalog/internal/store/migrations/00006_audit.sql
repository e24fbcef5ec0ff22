-- +goose Up

-- What people did with gifts, campaigns and stock through the operations plane. subject_id is the gift
-- or the campaign. actor_id is an id, never a name. The id of a stock correction is the caller's: a
-- repeated one is found here. Rows are appended and, after a year, deleted.
CREATE TABLE catalog_audit (
    id         uuid        PRIMARY KEY,
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor_kind text        NOT NULL CHECK (actor_kind IN ('TENANT_ACCOUNT', 'TENANT_CLIENT', 'BACKOFFICE_ACCOUNT', 'SYSTEM')),
    actor_id   text        NOT NULL CHECK (char_length(actor_id) <= 128),
    action     text        NOT NULL,
    subject_id uuid        NOT NULL,
    detail     jsonb       NOT NULL
);
-- Serves the audit of a gift or a campaign, newest first.
CREATE INDEX catalog_audit_subject ON catalog_audit (subject_id, at DESC, id DESC);
-- Serves the retention.
CREATE INDEX catalog_audit_at ON catalog_audit (at);

-- +goose StatementBegin
CREATE FUNCTION catalog_audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND OLD.at < clock_timestamp() - interval '365 days' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'catalog_audit is append-only' USING ERRCODE = 'insufficient_privilege';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER catalog_audit_rows_stay BEFORE UPDATE OR DELETE ON catalog_audit
    FOR EACH ROW EXECUTE FUNCTION catalog_audit_append_only();

-- Serves the retention: a released reservation holds no unit and is deleted later. A confirmed one stays
-- for ever: its order can be cancelled at any time, and its unit must then be returned.
CREATE INDEX reservations_released ON reservations (expires_at) WHERE state = 'RELEASED';
