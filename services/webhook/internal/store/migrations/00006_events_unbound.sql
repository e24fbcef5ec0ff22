-- +goose Up

-- As the constraints before it; apart from them, so that it holds the locks of no third table.
ALTER TABLE deliveries DROP CONSTRAINT deliveries_tenant_id_event_id_fkey;
