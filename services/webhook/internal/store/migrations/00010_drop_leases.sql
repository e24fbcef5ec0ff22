-- +goose NO TRANSACTION
-- +goose Up

-- The previous version finds leases with deliveries_leased_by, which begins with the same columns.
DROP INDEX CONCURRENTLY deliveries_leased;
