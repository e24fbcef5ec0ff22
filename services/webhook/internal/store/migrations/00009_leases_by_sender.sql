-- +goose NO TRANSACTION
-- +goose Up

-- Serves the claim: how many rows of an endpoint each sender is sending. The end of the lease lets it skip the entries of leases
-- that have ended.
CREATE INDEX CONCURRENTLY deliveries_leased_by ON deliveries (tenant_id, key_id, leased_by, next_attempt_at)
    WHERE lease_token IS NOT NULL;
