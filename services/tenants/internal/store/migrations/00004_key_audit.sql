-- +goose Up

-- What people did with API keys through the operations plane. actor_id is an id, never a name. UNKNOWN is the actor of a call
-- that named nobody. Rows are appended and, after a year at the earliest, deleted.
CREATE TABLE key_audit (
    id         uuid        PRIMARY KEY,
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    tenant_id  uuid        NOT NULL,
    key_id     int         NOT NULL,
    actor_kind text        NOT NULL
        CHECK (actor_kind IN ('TENANT_ACCOUNT', 'TENANT_CLIENT', 'BACKOFFICE_ACCOUNT', 'SYSTEM', 'UNKNOWN')),
    actor_id   text        NOT NULL CHECK (char_length(actor_id) <= 128),
    action     text        NOT NULL,
    -- What the key may do before and after the change. It has no secret.
    detail     jsonb       NOT NULL
);
-- Serves the audit of a tenant, newest first. There are few rows for each, so the audit of one key needs no index of its own.
CREATE INDEX key_audit_tenant ON key_audit (tenant_id, at DESC, id DESC);
-- Serves the retention.
CREATE INDEX key_audit_at ON key_audit (at);

-- +goose StatementBegin
CREATE FUNCTION key_audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND OLD.at < clock_timestamp() - interval '365 days' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'key_audit is append-only' USING ERRCODE = 'insufficient_privilege';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER key_audit_rows_stay BEFORE UPDATE OR DELETE ON key_audit
    FOR EACH ROW EXECUTE FUNCTION key_audit_append_only();
CREATE TRIGGER key_audit_stays BEFORE TRUNCATE ON key_audit
    FOR EACH STATEMENT EXECUTE FUNCTION key_audit_append_only();
