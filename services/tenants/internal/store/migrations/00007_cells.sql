-- +goose Up

-- Installations of the services that hold records of tenants. The first one, a, is found by the settings of the programs.
CREATE TABLE cells (
    letter              text    PRIMARY KEY CHECK (letter ~ '^[a-z]$'),
    -- Whether tenants may begin in the cell, or be moved to it.
    open                boolean NOT NULL,
    -- How many tenants it may hold; 0: any number.
    room                int     NOT NULL CHECK (room >= 0),
    catalog_addr        text    NOT NULL,
    orders_addr         text    NOT NULL,
    personal_links_addr text    NOT NULL,
    events_addr         text    NOT NULL,
    webhook_addr        text    NOT NULL
);
INSERT INTO cells VALUES ('a', true, 0, '', '', '', '', '');

-- The cell that holds the tenant's records.
ALTER TABLE tenants ADD COLUMN cell text NOT NULL DEFAULT 'a';

-- The newest move of each tenant. The audit has all of them.
CREATE TABLE tenant_moves (
    tenant_id       uuid        PRIMARY KEY,
    source          text        NOT NULL,
    target          text        NOT NULL,
    step            text        NOT NULL
        CHECK (step IN ('COPYING', 'PAUSING', 'SWITCHING', 'OPENING', 'ERASING', 'DONE', 'UNDOING', 'CANCELLED')),
    requested_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor_kind      text        NOT NULL CHECK (actor_kind IN ('BACKOFFICE_ACCOUNT', 'SYSTEM')),
    actor_id        text        NOT NULL CHECK (char_length(actor_id) <= 128),
    -- The keys that the tenant had when the move began: some rows name only a key.
    key_ids         int[]       NOT NULL,
    step_at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    tables          int         NOT NULL DEFAULT 0,
    tables_copied   int         NOT NULL DEFAULT 0,
    rows            bigint      NOT NULL DEFAULT 0,
    bytes           bigint      NOT NULL DEFAULT 0,
    lag_bytes       bigint      NOT NULL DEFAULT 0,
    pause           interval    NOT NULL DEFAULT '0',
    problem         text        NOT NULL DEFAULT '',
    -- When a worker looks at the row again; a worker that holds it moves this ahead.
    next_attempt_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- Serves the worker.
CREATE INDEX tenant_moves_due ON tenant_moves (next_attempt_at) WHERE step NOT IN ('DONE', 'CANCELLED');
