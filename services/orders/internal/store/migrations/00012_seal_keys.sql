-- +goose NO TRANSACTION
-- +goose Up

DROP INDEX CONCURRENTLY IF EXISTS orders_details_key; -- The rest of an earlier attempt that failed.
-- Serves the check of the seal keys: the keys in use, and some values of each. The expression is that of package ringcheck.
CREATE INDEX CONCURRENTLY orders_details_key ON orders
    ((CASE WHEN length(details_sealed) > 0 THEN substring(details_sealed FOR get_byte(details_sealed, 0) + 1) END));
