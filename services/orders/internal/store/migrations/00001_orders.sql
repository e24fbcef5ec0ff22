-- +goose Up

-- What holds for every order, whoever writes it. PostgreSQL reads the text of each CHECK again for every statement that writes, which
-- took more than a quarter of the time to insert an order. The body of a function is read once per connection.
-- +goose StatementBegin
CREATE FUNCTION order_is_whole(
    version bigint, source text, status text, item_kind text, product_id uuid, budget_amount numeric, budget_currency text,
    delivery_country text, cancellation_reason text, details_sealed bytea, details_erased_at timestamptz,
    created_at timestamptz, updated_at timestamptz
) RETURNS boolean LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
    RETURN version >= 0
        AND source IN ('API', 'PERSONAL_LINK', 'WORKSPACE', 'BACKOFFICE')
        AND status IN ('REQUESTED', 'PROCESSING', 'SENT', 'COMPLETED', 'CANCELLED')
        AND item_kind IN ('CATALOG', 'CUSTOM')
        AND (item_kind = 'CATALOG') = (product_id IS NOT NULL)
        AND (item_kind = 'CUSTOM') = (budget_amount IS NOT NULL AND budget_currency IS NOT NULL)
        AND (budget_amount IS NULL OR budget_amount > 0)
        AND length(delivery_country) = 2
        AND (status = 'CANCELLED') = (cancellation_reason IS NOT NULL)
        AND (details_erased_at IS NULL) = (length(details_sealed) > 0)
        AND updated_at >= created_at;
END
$$;
-- +goose StatementEnd

-- One row per order. Every channel may see its columns, except details_sealed: only that column has data
-- that names or locates a person.
CREATE TABLE orders (
    tenant_id                     uuid        NOT NULL,
    id                            uuid        NOT NULL,
    reference                     text        NOT NULL CONSTRAINT orders_reference UNIQUE,
    version                       bigint      NOT NULL DEFAULT 0,
    external_order_id             text,
    external_recipient_id         text,
    external_campaign_ref         text,
    external_action_ref           text,
    source                        text        NOT NULL,
    brand_id                      uuid        NOT NULL,
    campaign_id                   uuid,
    catalog_selection             boolean     NOT NULL DEFAULT false,
    personal_link_id              uuid,
    status                        text        NOT NULL,
    -- The one item: a catalog gift has a product, a custom request a budget.
    item_kind                     text        NOT NULL,
    product_id                    uuid,
    product_name                  text        NOT NULL,
    variations                    jsonb       NOT NULL DEFAULT '{}',
    budget_amount                 numeric(12, 2),
    budget_currency               text,
    -- Id under which the catalog holds the order's unit of campaign stock; null: the order's id. An order
    -- that is reopened after its unit was returned holds another unit under another id, so that a late
    -- release of the first can never return the second.
    stock_hold_id                 uuid,
    delivery_country              text        NOT NULL,
    urgent                        boolean     NOT NULL DEFAULT false,
    after_hours_service_accepted  boolean     NOT NULL DEFAULT false,
    branded_packaging_requested   boolean     NOT NULL DEFAULT false,
    received_outside_active_hours boolean     NOT NULL,
    manager_id                    uuid,
    -- The key that placed the order, with its name at that time; null for other channels.
    placed_by_key_id              int,
    placed_by_key_name            text,
    carrier                       text,
    tracking_reference            text,
    tracking_url                  text,
    cancellation_reason           text,
    details_sealed                bytea       NOT NULL,
    -- When the delivery details were erased; details_sealed is empty from then on.
    details_erased_at             timestamptz,
    created_at                    timestamptz NOT NULL,
    updated_at                    timestamptz NOT NULL,

    PRIMARY KEY (tenant_id, id),
    CONSTRAINT orders_external_order_id UNIQUE (tenant_id, external_order_id),
    CONSTRAINT orders_whole CHECK (order_is_whole(version, source, status, item_kind, product_id, budget_amount, budget_currency,
        delivery_country, cancellation_reason, details_sealed, details_erased_at, created_at, updated_at))
) WITH (fillfactor = 90);

-- Few orders are waiting at any time, however many there are in all. If the sample of ANALYZE has no order of a status, the
-- planner assumes that none exists and chooses to read all of them. The default sample of 30,000 rows usually misses 200
-- orders among ten million; a sample ten times as large finds some.
ALTER TABLE orders ALTER COLUMN status SET STATISTICS 1000;

-- Serves GET /orders: newest placed first.
CREATE INDEX orders_newest ON orders (tenant_id, created_at DESC, id DESC);
-- Serves GET /orders?externalRecipientId=…
CREATE INDEX orders_recipient ON orders (tenant_id, external_recipient_id, created_at DESC, id DESC)
    WHERE external_recipient_id IS NOT NULL;
-- Serves GET /orders of a key limited to brands, and ?brandId=…: without it the page of a small brand
-- would be searched among all orders of the tenant.
CREATE INDEX orders_brand ON orders (tenant_id, brand_id, created_at DESC, id DESC);
-- Serves GET /orders?status=…, also for a status that few orders of the tenant have.
CREATE INDEX orders_status ON orders (tenant_id, status, created_at DESC, id DESC);
-- Serves GET /orders?status=… of a key limited to brands, and ?brandId=…&status=…: there may be
-- many orders of the brand and many of the status, but few that have both.
CREATE INDEX orders_brand_status ON orders (tenant_id, brand_id, status, created_at DESC, id DESC);
-- Serves GET /orders?updatedSince=…: changed orders are read from the table only if they have the requested brand, status and
-- time. Without these columns the server reads all changed orders, or the index of all orders of the status.
CREATE INDEX orders_changed ON orders (tenant_id, updated_at, created_at, status, brand_id);
-- Serves the search of the operations plane by campaign.
CREATE INDEX orders_campaign ON orders (tenant_id, campaign_id, created_at DESC, id DESC)
    WHERE campaign_id IS NOT NULL;
-- Serves the operator's search over all tenants by status.
CREATE INDEX orders_by_status ON orders (status, created_at DESC, id DESC);
-- A link places one order, even if the links database is set back and forgets the first one. Serves the search for a link's
-- order, and reconciling the orders with the links in the order of the index.
CREATE UNIQUE INDEX orders_personal_link ON orders (tenant_id, personal_link_id) WHERE personal_link_id IS NOT NULL;
-- Serves reconciling: the order that holds stock under an id that is not its own. Few orders were reopened, so it is small.
CREATE INDEX orders_stock_hold ON orders (stock_hold_id) WHERE stock_hold_id IS NOT NULL;
-- Serves the erasure: the orders that were completed or cancelled first.
CREATE INDEX orders_erasable ON orders (updated_at)
    WHERE status IN ('COMPLETED', 'CANCELLED') AND details_erased_at IS NULL;
-- Serves the check of the seal keys: the keys in use, and some values of each. The expression is that of package seal.
CREATE INDEX orders_details_key ON orders
    ((CASE WHEN length(details_sealed) > 0 THEN substring(details_sealed FOR get_byte(details_sealed, 0) + 1) END));

-- Decides once for each order with campaign stock whether it was placed or given up. The order's
-- transaction and the recovery worker both insert; the primary key lets only one of them succeed.
-- PLACED: the order exists and holds the unit. RELEASING: the order was cancelled, but the catalog has not
-- released the unit yet. RELEASED: it has. UNSTOCKED: the order exists under a claim's id and holds no unit.
-- ABANDONED: the order does not exist and will not be placed.
CREATE TABLE reservation_outcomes (
    tenant_id  uuid        NOT NULL,
    order_id   uuid        PRIMARY KEY,
    outcome    text        NOT NULL CHECK (outcome IN ('PLACED', 'RELEASING', 'RELEASED', 'UNSTOCKED', 'ABANDONED')),
    decided_at timestamptz NOT NULL DEFAULT now()
);
-- Rows are found by their order alone. Logical replication of a tenant's rows needs tenant_id, too.
ALTER TABLE reservation_outcomes REPLICA IDENTITY FULL;
-- Serves the erasure of a tenant.
CREATE INDEX reservation_outcomes_tenant ON reservation_outcomes (tenant_id);
-- Serves the worker that releases units in the catalog.
CREATE INDEX reservation_outcomes_releasing ON reservation_outcomes (order_id) WHERE outcome = 'RELEASING';
-- Serves the deletion of outcomes that are no longer needed.
CREATE INDEX reservation_outcomes_over ON reservation_outcomes (decided_at) WHERE outcome IN ('RELEASED', 'ABANDONED');

-- Texts on an order. The public API shows what is not internal. seq orders the messages of an order:
-- the order's row is locked while one is posted.
CREATE TABLE order_messages (
    tenant_id   uuid        NOT NULL,
    order_id    uuid        NOT NULL,
    seq         bigint      GENERATED ALWAYS AS IDENTITY,
    id          uuid        NOT NULL,
    author_kind text        NOT NULL
        CHECK (author_kind IN ('API_KEY', 'TENANT_ACCOUNT', 'TENANT_CLIENT', 'BACKOFFICE_ACCOUNT', 'SYSTEM')),
    -- Id of the key, or of the person in the directory of the caller.
    author_id   text        NOT NULL,
    -- As the API shows it.
    author_name text        NOT NULL,
    internal    boolean     NOT NULL DEFAULT false,
    -- The text; null once erased.
    body_sealed bytea,
    -- Length of the text in UTF-8; 0 once erased.
    body_bytes  int         NOT NULL,
    created_at  timestamptz NOT NULL,
    -- Also serves re-encrypt, which reads all messages in this order, in batches.
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, order_id) REFERENCES orders (tenant_id, id),
    CONSTRAINT order_messages_erased CHECK ((body_sealed IS NULL) = (body_bytes = 0))
);
-- Serves GET /orders/{orderId}/messages: the newest ones of an order.
CREATE INDEX order_messages_visible ON order_messages (tenant_id, order_id, seq DESC) WHERE NOT internal;
-- Serves the operator's view, with internal notes.
CREATE INDEX order_messages_all ON order_messages (tenant_id, order_id, seq DESC);
-- Serves the check of the seal keys: the keys in use, and some values of each. The expression is that of package seal.
CREATE INDEX order_messages_body_key ON order_messages
    ((CASE WHEN length(body_sealed) > 0 THEN substring(body_sealed FOR get_byte(body_sealed, 0) + 1) END));

-- Actions of the operations plane: who did what to which order, and when. Persons are named by id, so the
-- table has no personal data. Rows are appended, never changed, and may be deleted after a year.
CREATE TABLE order_audit (
    -- Both null for a search: it names no order, and the operator may search all tenants.
    tenant_id      uuid,
    order_id       uuid,
    id             uuid        PRIMARY KEY,
    at             timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor_kind     text        NOT NULL
        CHECK (actor_kind IN ('TENANT_ACCOUNT', 'TENANT_CLIENT', 'BACKOFFICE_ACCOUNT', 'SYSTEM')),
    actor_id       text        NOT NULL CHECK (length(actor_id) <= 128),
    operation      text        NOT NULL,
    -- Null if the order did not exist before.
    status_before  text,
    version_before bigint,
    -- Null for a search.
    status_after   text,
    version_after  bigint
);
-- Rows are deleted by their id alone. Logical replication of a tenant's rows needs tenant_id, too.
ALTER TABLE order_audit REPLICA IDENTITY FULL;
-- Serves the audit of an order, and the report of a tenant's erasure.
CREATE INDEX order_audit_order ON order_audit (tenant_id, order_id, at, id) WHERE tenant_id IS NOT NULL;
-- Serves the retention.
CREATE INDEX order_audit_at ON order_audit (at);

-- +goose StatementBegin
CREATE FUNCTION order_audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND OLD.at < clock_timestamp() - interval '365 days' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'order_audit is append-only' USING ERRCODE = 'insufficient_privilege';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER order_audit_rows_stay BEFORE UPDATE OR DELETE ON order_audit
    FOR EACH ROW EXECUTE FUNCTION order_audit_append_only();
CREATE TRIGGER order_audit_stays BEFORE TRUNCATE ON order_audit
    FOR EACH STATEMENT EXECUTE FUNCTION order_audit_append_only();

-- Orders of the sandbox that go on by themselves, one step after each interval, until they have the status stop_at. A row goes
-- with the last step. Production has none.
CREATE TABLE sandbox_paces (
    tenant_id     uuid        NOT NULL,
    order_id      uuid        NOT NULL,
    every_seconds integer     NOT NULL CHECK (every_seconds BETWEEN 1 AND 3600),
    stop_at       text        NOT NULL CHECK (stop_at IN ('PROCESSING', 'SENT', 'COMPLETED')),
    due_at        timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, order_id)
);
-- Serves the steps that are due, and the time of the next one.
CREATE INDEX sandbox_paces_due ON sandbox_paces (due_at);
