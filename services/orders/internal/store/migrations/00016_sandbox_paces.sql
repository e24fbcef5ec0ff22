-- +goose Up

-- Orders of the sandbox that go on by themselves, one step after each interval, until they have the status stop_at. A row goes
-- with the last step. Production never has a row.
CREATE TABLE sandbox_paces (
    order_id      uuid        PRIMARY KEY,
    tenant_id     uuid        NOT NULL,
    every_seconds integer     NOT NULL CHECK (every_seconds BETWEEN 1 AND 3600),
    stop_at       text        NOT NULL CHECK (stop_at IN ('PROCESSING', 'SENT', 'COMPLETED')),
    due_at        timestamptz NOT NULL
);
-- Serves the steps that are due, and the time of the next one.
CREATE INDEX sandbox_paces_due ON sandbox_paces (due_at);
-- Serves the erasure of a tenant.
CREATE INDEX sandbox_paces_tenant ON sandbox_paces (tenant_id);
