-- +goose Up

-- Actions of the operations plane: who did what to which order, and when. Persons are named by id, so the
-- table has no personal data. Rows are appended, never changed, and may be deleted after a year.
CREATE TABLE order_audit (
    id             uuid        PRIMARY KEY,
    at             timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- Both null for a search: it names no order, and the operator may search all tenants.
    tenant_id      uuid,
    order_id       uuid,
    actor_kind     text        NOT NULL
        CHECK (actor_kind IN ('TENANT_ACCOUNT', 'TENANT_CLIENT', 'BACKOFFICE_ACCOUNT', 'SYSTEM')),
    actor_id       text        NOT NULL CHECK (length(actor_id) <= 128),
    operation      text        NOT NULL,
    -- Null if the order did not exist before.
    status_before  text,
    version_before bigint,
    -- Null for a search.
    status_after   text,
    version_after  bigint
);
-- Serves the audit of an order.
CREATE INDEX order_audit_order ON order_audit (tenant_id, order_id, at, id) WHERE order_id IS NOT NULL;
-- Serves the retention.
CREATE INDEX order_audit_at ON order_audit (at);

-- +goose StatementBegin
CREATE FUNCTION order_audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND OLD.at < clock_timestamp() - interval '365 days' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'order_audit is append-only' USING ERRCODE = 'insufficient_privilege';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER order_audit_rows_stay BEFORE UPDATE OR DELETE ON order_audit
    FOR EACH ROW EXECUTE FUNCTION order_audit_append_only();
CREATE TRIGGER order_audit_stays BEFORE TRUNCATE ON order_audit
    FOR EACH STATEMENT EXECUTE FUNCTION order_audit_append_only();

-- When the delivery details were erased; details_sealed is empty from then on.
ALTER TABLE orders
    ADD COLUMN details_erased_at timestamptz,
    ADD CONSTRAINT orders_details_erased CHECK ((details_erased_at IS NULL) = (length(details_sealed) > 0));
-- Serves the erasure: the orders that were completed or cancelled first.
CREATE INDEX orders_erasable ON orders (updated_at)
    WHERE status IN ('COMPLETED', 'CANCELLED') AND details_erased_at IS NULL;

-- Serves the operator's search over all tenants by status.
CREATE INDEX orders_by_status ON orders (status, created_at DESC, id DESC);
