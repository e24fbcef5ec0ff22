-- +goose Up

-- What people did with tenants, brands, teams and custom fields through the operations plane; what they did with keys is in
-- key_audit. actor_id is an id, never a name. Rows are appended and, after a year at the earliest, deleted.
CREATE TABLE tenant_audit (
    id         uuid        PRIMARY KEY,
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    tenant_id  uuid        NOT NULL,
    actor_kind text        NOT NULL CHECK (actor_kind IN ('TENANT_ACCOUNT', 'BACKOFFICE_ACCOUNT', 'SYSTEM')),
    actor_id   text        NOT NULL CHECK (char_length(actor_id) <= 128),
    action     text        NOT NULL,
    -- Id of the changed record; empty for the tenant itself.
    subject_id text        NOT NULL,
    -- The record before and after the change, without personal data.
    detail     jsonb       NOT NULL
);
-- Serves the audit of a tenant, newest first.
CREATE INDEX tenant_audit_tenant ON tenant_audit (tenant_id, at DESC, id DESC);
-- Serves the retention.
CREATE INDEX tenant_audit_at ON tenant_audit (at);

-- +goose StatementBegin
CREATE FUNCTION tenant_audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND OLD.at < clock_timestamp() - interval '365 days' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'tenant_audit is append-only' USING ERRCODE = 'insufficient_privilege';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER tenant_audit_rows_stay BEFORE UPDATE OR DELETE ON tenant_audit
    FOR EACH ROW EXECUTE FUNCTION tenant_audit_append_only();
CREATE TRIGGER tenant_audit_stays BEFORE TRUNCATE ON tenant_audit
    FOR EACH STATEMENT EXECUTE FUNCTION tenant_audit_append_only();
