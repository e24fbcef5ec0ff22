-- +goose Up

-- For the same reason as the constraints in 00005, but in a separate transaction, which locks fewer tables.
ALTER TABLE deliveries DROP CONSTRAINT deliveries_tenant_id_event_id_fkey;
