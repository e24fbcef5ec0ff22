-- +goose Up

-- Units taken for orders. RESERVED: for an order about to commit. CONFIRMED: for an order that
-- exists. RELEASED: the unit was returned. units is the number taken from the stock: 0 for an offering
-- without finite stock. A confirmed row is kept, because its unit can still be released. The primary key
-- serves confirming and releasing.
CREATE TABLE reservations (
    order_id        uuid        PRIMARY KEY,
    reservation_key bytea       NOT NULL CHECK (octet_length(reservation_key) BETWEEN 1 AND 256),
    tenant_id       uuid        NOT NULL,
    sku_id          uuid        REFERENCES skus (id),
    units           int         NOT NULL CHECK (units IN (0, 1)),
    state           text        NOT NULL CHECK (state IN ('RESERVED', 'CONFIRMED', 'RELEASED')),
    expires_at      timestamptz NOT NULL,
    created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT reservations_sku CHECK (state = 'RELEASED' OR sku_id IS NOT NULL)
);
-- Serves a repeated attempt. A key holds at most one unit for an order about to commit. Once that unit
-- is confirmed or released, the key may reserve for another order.
CREATE UNIQUE INDEX reservations_held_key ON reservations (reservation_key) WHERE state = 'RESERVED';
-- Serves the search for reservations that were neither confirmed nor released.
CREATE INDEX reservations_expiry ON reservations (expires_at, order_id) WHERE state = 'RESERVED';

-- reserve_unit takes a unit in one round trip, or returns the one that the key holds. Locks are taken
-- in the order key, reservation, SKU; confirming and releasing take the last two in the same order.
-- An expiry never changes: the recovery may already be asking whether the order exists.
--
-- It raises GF001 without stock, GF002 when the campaign does not offer the combination, GF003 while
-- the key still holds a unit of another combination, GF004 when the order is that of another key.
-- +goose StatementBegin
CREATE FUNCTION reserve_unit(
    p_key bytea, p_order_id uuid, p_tenant_id uuid, p_campaign_id uuid, p_product_id uuid,
    p_variations_key bytea, p_ttl interval
) RETURNS TABLE (reserved_order_id uuid, reserved_until timestamptz) LANGUAGE plpgsql AS $$
DECLARE
    held   reservations%ROWTYPE;
    wanted record;
BEGIN
    -- A second caller with the key waits here until the first has committed or failed. Waiting on the
    -- unique indexes instead can deadlock: two inserts may meet in them in opposite orders.
    PERFORM pg_advisory_xact_lock(hashtextextended(encode(p_key, 'hex'), 0));

    -- Not locked: no other caller reserves for the key now. It makes no difference whether the unit is
    -- confirmed or released right after this read or right after the answer.
    SELECT r.* INTO held FROM reservations r WHERE r.reservation_key = p_key AND r.state = 'RESERVED';
    IF FOUND THEN
        IF NOT EXISTS (
            SELECT FROM skus s
            WHERE s.id = held.sku_id AND s.tenant_id = p_tenant_id AND s.campaign_id = p_campaign_id
              AND s.product_id = p_product_id AND s.variations_key = p_variations_key
        ) THEN
            RAISE EXCEPTION 'the key holds a unit of another combination' USING ERRCODE = 'GF003';
        END IF;
        RETURN QUERY SELECT held.order_id, held.expires_at;
        RETURN;
    END IF;

    -- The row gets its SKU only below, after the stock: a foreign key takes a weak lock on the SKU, and
    -- a caller that then needs a stronger one can deadlock with a release. A failure undoes the row too.
    INSERT INTO reservations (order_id, reservation_key, tenant_id, units, state, expires_at)
    VALUES (p_order_id, p_key, p_tenant_id, 0, 'RELEASED', clock_timestamp())
    ON CONFLICT (order_id) DO NOTHING;
    SELECT r.* INTO STRICT held FROM reservations r WHERE r.order_id = p_order_id FOR UPDATE;
    IF held.reservation_key <> p_key THEN
        RAISE EXCEPTION 'the order is that of another key' USING ERRCODE = 'GF004';
    END IF;
    -- The order exists and has its unit.
    IF held.state = 'CONFIRMED' THEN
        RETURN QUERY SELECT held.order_id, held.expires_at;
        RETURN;
    END IF;

    SELECT s.id, CASE o.supply_type WHEN 'STOCKED' THEN 1 ELSE 0 END AS units INTO wanted
    FROM skus s
    JOIN offerings o ON o.tenant_id = s.tenant_id AND o.campaign_id = s.campaign_id AND o.product_id = s.product_id
    WHERE s.tenant_id = p_tenant_id AND s.campaign_id = p_campaign_id
      AND s.product_id = p_product_id AND s.variations_key = p_variations_key AND s.offered;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'no such combination' USING ERRCODE = 'GF002';
    END IF;
    IF wanted.units = 1 THEN
        UPDATE skus SET stock = stock - 1 WHERE id = wanted.id AND stock > 0;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'no stock' USING ERRCODE = 'GF001';
        END IF;
    END IF;
    RETURN QUERY
    UPDATE reservations r
    SET tenant_id = p_tenant_id, sku_id = wanted.id, units = wanted.units,
        state = 'RESERVED', expires_at = clock_timestamp() + p_ttl
    WHERE r.order_id = p_order_id
    RETURNING r.order_id, r.expires_at;
END
$$;
-- +goose StatementEnd
