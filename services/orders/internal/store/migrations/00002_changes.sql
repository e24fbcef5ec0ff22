-- +goose Up

-- Id under which the catalog holds the order's unit of campaign stock; null: the order's id. An order
-- that is reopened after its unit was returned holds another unit under another id, so that a late
-- release of the first can never return the second.
ALTER TABLE orders ADD COLUMN stock_hold_id uuid;

-- PLACED: the order exists and holds the unit. RELEASING: the order was cancelled, but the catalog has not
-- released the unit yet. RELEASED: it has. UNSTOCKED: the order exists under a claim's id and holds no unit.
-- ABANDONED: the order does not exist and will not be placed.
ALTER TABLE reservation_outcomes
    DROP CONSTRAINT reservation_outcomes_outcome_check,
    ADD CONSTRAINT reservation_outcomes_outcome_check
        CHECK (outcome IN ('PLACED', 'RELEASING', 'RELEASED', 'UNSTOCKED', 'ABANDONED'));
-- Serves the worker that releases units in the catalog.
CREATE INDEX reservation_outcomes_releasing ON reservation_outcomes (order_id) WHERE outcome = 'RELEASING';
-- Serves the deletion of outcomes that are no longer needed.
CREATE INDEX reservation_outcomes_over ON reservation_outcomes (decided_at) WHERE outcome IN ('RELEASED', 'ABANDONED');

-- Texts on an order. The public API shows what is not internal. seq orders the messages of an order:
-- the order's row is locked while one is posted.
CREATE TABLE order_messages (
    seq         bigint      GENERATED ALWAYS AS IDENTITY,
    id          uuid        NOT NULL PRIMARY KEY,
    tenant_id   uuid        NOT NULL,
    order_id    uuid        NOT NULL,
    author_kind text        NOT NULL
        CHECK (author_kind IN ('API_KEY', 'TENANT_ACCOUNT', 'TENANT_CLIENT', 'BACKOFFICE_ACCOUNT', 'SYSTEM')),
    -- Id of the key, or of the person in the directory of the caller.
    author_id   text        NOT NULL,
    -- As the API shows it.
    author_name text        NOT NULL,
    internal    boolean     NOT NULL DEFAULT false,
    body        text        NOT NULL CHECK (length(body) BETWEEN 1 AND 4000),
    created_at  timestamptz NOT NULL,
    FOREIGN KEY (tenant_id, order_id) REFERENCES orders (tenant_id, id)
);
-- Serves GET /orders/{orderId}/messages: the newest ones of an order.
CREATE INDEX order_messages_visible ON order_messages (tenant_id, order_id, seq DESC) WHERE NOT internal;
-- Serves the operator's view, with internal notes.
CREATE INDEX order_messages_all ON order_messages (tenant_id, order_id, seq DESC);
