-- +goose NO TRANSACTION
-- +goose Up

-- A link places one order, even if the links database is set back and forgets the first one. Where a link has several orders
-- from earlier, the first keeps its place. The migration says which others it marks and never fails for them. The previous
-- version gets an error when it places a second order.
-- +goose StatementBegin
DO $$
DECLARE repeated record;
BEGIN
    FOR repeated IN
        UPDATE orders o SET link_repeated = true FROM (
            SELECT tenant_id, id, row_number() OVER (PARTITION BY tenant_id, personal_link_id ORDER BY created_at, id) AS n
            FROM orders WHERE personal_link_id IS NOT NULL AND NOT link_repeated
        ) numbered
        WHERE numbered.n > 1 AND o.tenant_id = numbered.tenant_id AND o.id = numbered.id
        RETURNING o.tenant_id, o.id, o.personal_link_id
    LOOP
        RAISE WARNING 'personal link % of tenant % has a further order: %', repeated.personal_link_id, repeated.tenant_id, repeated.id;
    END LOOP;
END
$$;
-- +goose StatementEnd
DROP INDEX CONCURRENTLY IF EXISTS orders_personal_link; -- The rest of an earlier attempt that failed.
-- Serves the search for a link's order, and reconciling the orders with the links in the order of the index.
CREATE UNIQUE INDEX CONCURRENTLY orders_personal_link ON orders (tenant_id, personal_link_id)
    WHERE personal_link_id IS NOT NULL AND NOT link_repeated;
