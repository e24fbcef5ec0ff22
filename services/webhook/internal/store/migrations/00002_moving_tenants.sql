-- +goose Up

-- Tenants that move to another cell or arrive from one, and whose deliveries are therefore held back. In the new cell that is from
-- before their rows are copied until the tenant is there: a claim would change the copies. In the old cell it is from before the
-- tenant leaves until its rows are erased: its rows cannot be changed any more, and a claim for many tenants would fail.
CREATE TABLE moving_tenants (
    tenant_id uuid PRIMARY KEY
);

-- hold_deliveries holds back the deliveries of a tenant. Once it is committed, none of them is leased any more. Those that are
-- leased are sent until their leases end, at the latest. It must be a transaction of its own.
--
-- A lease is given under the lock of its key. A transaction that holds the lock is waited for. One that gets it later sees the row,
-- because it leases in a statement that begins after it has the lock.
-- +goose StatementBegin
CREATE FUNCTION hold_deliveries(p_tenant uuid, p_key_ids int[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(2003331889, k.id) FROM (SELECT id FROM unnest(p_key_ids) AS u (id) ORDER BY id) k;
    INSERT INTO moving_tenants (tenant_id) VALUES (p_tenant) ON CONFLICT DO NOTHING;
END
$$;
-- +goose StatementEnd

-- release_deliveries ends that, and the pauses that were copied. The next search of a sender, within 5 seconds, finds what is due.
-- +goose StatementBegin
CREATE FUNCTION release_deliveries(p_tenant uuid) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM moving_tenants WHERE tenant_id = p_tenant;
    DELETE FROM pauses WHERE tenant_id = p_tenant;
END
$$;
-- +goose StatementEnd
