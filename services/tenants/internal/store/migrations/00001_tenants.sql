-- +goose Up

-- A tenant and its settings. Its row is locked before anything of the tenant changes, and version
-- grows in the same transaction, so the holder of a copy can see that it is outdated.
CREATE TABLE tenants (
    id                uuid        PRIMARY KEY,
    name              text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
    -- The complete list in the order of the response: en-US is always first.
    locales           text[]      NOT NULL CHECK (coalesce(locales[1] = 'en-US', false)),
    currency          text        NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    approval_required boolean     NOT NULL,
    api_access        boolean     NOT NULL,
    version           bigint      NOT NULL DEFAULT 1 CHECK (version > 0),
    created_at        timestamptz NOT NULL DEFAULT now()
);
-- Serves the list of all tenants, newest first.
CREATE INDEX tenants_created ON tenants (created_at DESC, id DESC);

-- The primary key serves the list of a tenant's brands. An id belongs to one tenant for ever.
CREATE TABLE brands (
    tenant_id      uuid        NOT NULL REFERENCES tenants (id),
    id             uuid        NOT NULL CONSTRAINT brands_one_tenant UNIQUE,
    name           text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
    slug           text        NOT NULL CHECK (slug ~ '^[a-z0-9]+(-[a-z0-9]+)*$' AND char_length(slug) <= 100),
    primary_colour text        CHECK (primary_colour ~ '^#[0-9A-Fa-f]{6}$'),
    logo_url       text        CHECK (char_length(logo_url) BETWEEN 1 AND 2048),
    created_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT brands_slug UNIQUE (tenant_id, slug)
);

-- What the gift site of a brand links to and how it looks. The primary key serves the list of a tenant's gift sites.
CREATE TABLE gift_sites (
    tenant_id      uuid        NOT NULL,
    brand_id       uuid        NOT NULL,
    privacy_url    text        CHECK (char_length(privacy_url) BETWEEN 1 AND 2048),
    terms_url      text        CHECK (char_length(terms_url) BETWEEN 1 AND 2048),
    support_url    text        CHECK (char_length(support_url) BETWEEN 1 AND 2048),
    imprint_url    text        CHECK (char_length(imprint_url) BETWEEN 1 AND 2048),
    home_url       text        CHECK (char_length(home_url) BETWEEN 1 AND 2048),
    accent_colour  text        CHECK (accent_colour ~ '^#[0-9A-Fa-f]{6}$'),
    -- The image belongs to the catalog, which shows it only if the brand has uploaded it.
    hero_image_id  text        CHECK (hero_image_id ~ '^[0-9a-f]{32}$'),
    typeface       text        NOT NULL CHECK (typeface IN ('SYSTEM', 'SERIF', 'GROTESK', 'HUMANIST')),
    corners        text        NOT NULL CHECK (corners IN ('SQUARE', 'SOFT', 'ROUND')),
    colour_scheme  text        NOT NULL CHECK (colour_scheme IN ('AUTO', 'LIGHT', 'DARK')),
    -- How long gifts take by country, as a list of {country, minBusinessDays, maxBusinessDays}. It is read with the gift site only.
    delivery_times jsonb       NOT NULL DEFAULT '[]'
        CHECK (jsonb_typeof(delivery_times) = 'array' AND jsonb_array_length(delivery_times) <= 250),
    created_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, brand_id),
    CONSTRAINT gift_sites_brand FOREIGN KEY (tenant_id, brand_id) REFERENCES brands (tenant_id, id) ON DELETE CASCADE
);

-- The primary key serves the list of a tenant's active members.
CREATE TABLE team_members (
    tenant_id  uuid        NOT NULL REFERENCES tenants (id),
    id         uuid        NOT NULL CONSTRAINT team_members_one_tenant UNIQUE,
    name       text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
    -- Stored in lower case. Only ASCII is checked here: databases differ in the lower case of other letters.
    email      text        NOT NULL CHECK (email COLLATE "C" !~ '[A-Z]' AND char_length(email) BETWEEN 3 AND 255),
    role       text        NOT NULL CHECK (role IN ('ADMINISTRATOR', 'COORDINATOR', 'MEMBER')),
    active     boolean     NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT team_members_email UNIQUE (tenant_id, email)
);

-- The primary key serves the list of a tenant's fields. There are few, so their order needs no index.
-- The type of a field never changes: existing answers would no longer fit.
CREATE TABLE custom_fields (
    tenant_id  uuid        NOT NULL REFERENCES tenants (id),
    id         uuid        NOT NULL CONSTRAINT custom_fields_one_tenant UNIQUE,
    label      text        NOT NULL CHECK (char_length(label) BETWEEN 1 AND 255),
    type       text        NOT NULL CHECK (type IN ('TEXT', 'CHECKBOX', 'DROPDOWN')),
    required   boolean     NOT NULL,
    options    text[]      NOT NULL,
    position   int         NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT custom_fields_options CHECK ((type = 'DROPDOWN') = (cardinality(options) > 0))
);

-- API keys. Only a hash of the key is stored; the signing secrets are sealed.
CREATE TABLE api_keys (
    tenant_id               uuid        NOT NULL REFERENCES tenants (id),
    id                      int         GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- SHA-256 of the whole key. Its index serves the authentication of a request.
    hash                    bytea       NOT NULL CONSTRAINT api_keys_hash UNIQUE CHECK (octet_length(hash) = 32),
    prefix                  text        NOT NULL CHECK (char_length(prefix) BETWEEN 1 AND 32),
    name                    text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    scopes                  text[]      NOT NULL CHECK (scopes <@ ARRAY ['CATALOG', 'ORDERS', 'PERSONAL_LINKS']),
    all_brands              boolean     NOT NULL,
    -- Brands of the tenant, checked under the lock of its row; brands are never removed.
    brand_ids               uuid[]      NOT NULL,
    webhook_url             text        CHECK (char_length(webhook_url) BETWEEN 1 AND 2048),
    webhook_secret          bytea       NOT NULL,
    -- The last rotation of the signing secret: the id that the caller chose, and when it was. A repeat with the id, because the
    -- response was lost, returns the same secret. A further rotation would stop the one that the receiver knows.
    rotation_id             uuid,
    rotated_at              timestamptz,
    -- The secret that a rotation with an overlap replaced, and when it stops signing. It is sealed like webhook_secret, with the
    -- same associated data. Both are null otherwise.
    previous_webhook_secret bytea,
    previous_signs_until    timestamptz,
    revoked_at              timestamptz,
    created_at              timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT api_keys_brands CHECK (NOT all_brands OR cardinality(brand_ids) = 0),
    CONSTRAINT api_keys_previous_secret CHECK ((previous_webhook_secret IS NULL) = (previous_signs_until IS NULL))
);
-- Rows are found by their id or hash alone. Logical replication of a tenant's rows needs tenant_id, too.
ALTER TABLE api_keys REPLICA IDENTITY FULL;

-- Serves the list of a tenant's keys, revoked ones too.
CREATE INDEX api_keys_tenant ON api_keys (tenant_id, id);
-- Serves the list of a tenant's webhook endpoints.
CREATE INDEX api_keys_endpoints ON api_keys (tenant_id, id)
    WHERE revoked_at IS NULL AND webhook_url IS NOT NULL;
-- Serves retention: secrets that no longer sign.
CREATE INDEX api_keys_previous_over ON api_keys (previous_signs_until) WHERE previous_signs_until IS NOT NULL;
-- Serve the check of the seal keys: the keys in use, and some values of each. The expression is that of package seal.
CREATE INDEX api_keys_secret_key ON api_keys
    ((CASE WHEN length(webhook_secret) > 0 THEN substring(webhook_secret FOR get_byte(webhook_secret, 0) + 1) END));
CREATE INDEX api_keys_previous_key ON api_keys
    ((CASE WHEN length(previous_webhook_secret) > 0 THEN substring(previous_webhook_secret FOR get_byte(previous_webhook_secret, 0) + 1) END))
    WHERE previous_webhook_secret IS NOT NULL;

-- What people did with tenants, brands, teams, custom fields and API keys through the operations plane. actor_id is an id, never a
-- name. API_KEY is a key that rotated its own secret; its actor_id is the id of the key. Rows are appended and, after a year at the
-- earliest, deleted.
CREATE TABLE tenant_audit (
    tenant_id  uuid        NOT NULL,
    id         uuid        PRIMARY KEY,
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    actor_kind text        NOT NULL
        CHECK (actor_kind IN ('API_KEY', 'TENANT_ACCOUNT', 'TENANT_CLIENT', 'BACKOFFICE_ACCOUNT', 'SYSTEM')),
    actor_id   text        NOT NULL CHECK (char_length(actor_id) <= 128),
    action     text        NOT NULL,
    -- Id of the changed record; empty for the tenant itself.
    subject_id text        NOT NULL,
    -- The record before and after the change, without personal data and secrets.
    detail     jsonb       NOT NULL
);
-- Rows are deleted by their id alone. Logical replication of a tenant's rows needs tenant_id, too.
ALTER TABLE tenant_audit REPLICA IDENTITY FULL;
-- Serves the audit of a tenant, newest first. There are few rows for each, so the audit of one key needs no index of its own.
CREATE INDEX tenant_audit_tenant ON tenant_audit (tenant_id, at DESC, id DESC);
-- Serves the retention.
CREATE INDEX tenant_audit_at ON tenant_audit (at);

-- +goose StatementBegin
CREATE FUNCTION tenant_audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' AND OLD.at < clock_timestamp() - interval '365 days' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'tenant_audit is append-only' USING ERRCODE = 'insufficient_privilege';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER tenant_audit_rows_stay BEFORE UPDATE OR DELETE ON tenant_audit
    FOR EACH ROW EXECUTE FUNCTION tenant_audit_append_only();
CREATE TRIGGER tenant_audit_stays BEFORE TRUNCATE ON tenant_audit
    FOR EACH STATEMENT EXECUTE FUNCTION tenant_audit_append_only();

-- What people asked to be erased or exported, and how far that is. It has no personal data: the person is a keyed hash, and
-- actor_id is an id, never a name. A completed row is kept as the audit and, after a year at the earliest, deleted.
CREATE TABLE person_requests (
    tenant_id        uuid        NOT NULL,
    -- Chosen by the caller of an erasure.
    id               uuid        NOT NULL,
    action           text        NOT NULL CHECK (action IN ('ERASE', 'EXPORT')),
    subject_kind     text        NOT NULL CHECK (subject_kind IN ('EXTERNAL_RECIPIENT', 'ORDER', 'PERSONAL_LINK')),
    subject_mac      bytea       NOT NULL,
    actor_kind       text        NOT NULL CHECK (actor_kind IN ('TENANT_ACCOUNT', 'BACKOFFICE_ACCOUNT')),
    actor_id         text        NOT NULL CHECK (char_length(actor_id) <= 128),
    requested_at     timestamptz NOT NULL DEFAULT now(),
    link_ids         uuid[]      NOT NULL,
    order_ids        uuid[]      NOT NULL,
    links_erased_at  timestamptz,
    orders_erased_at timestamptz,
    -- When the copies that an erasure cannot change are gone, by their place.
    remainders       jsonb       NOT NULL DEFAULT '{}',
    completed_at     timestamptz,
    -- When the platform tries again, unless completed.
    next_attempt_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id),
    CONSTRAINT person_requests_completed CHECK (
        completed_at IS NULL OR action = 'EXPORT' OR links_erased_at IS NOT NULL AND orders_erased_at IS NOT NULL
    )
);
-- Serves the worker that continues erasures.
CREATE INDEX person_requests_pending ON person_requests (next_attempt_at) WHERE completed_at IS NULL;
-- Serves the retention.
CREATE INDEX person_requests_over ON person_requests (completed_at) WHERE completed_at IS NOT NULL;

-- While an erasure is pending, only its progress changes: not who asked, and not for whom.
-- +goose StatementBegin
CREATE FUNCTION person_requests_stay() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.completed_at IS NULL
       AND (NEW.tenant_id, NEW.id, NEW.action, NEW.subject_kind, NEW.subject_mac, NEW.actor_kind, NEW.actor_id, NEW.requested_at, NEW.link_ids)
         = (OLD.tenant_id, OLD.id, OLD.action, OLD.subject_kind, OLD.subject_mac, OLD.actor_kind, OLD.actor_id, OLD.requested_at, OLD.link_ids)
       AND NEW.order_ids @> OLD.order_ids THEN
        RETURN NEW;
    END IF;
    IF TG_OP = 'DELETE' AND OLD.completed_at < clock_timestamp() - interval '365 days' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'person_requests are append-only' USING ERRCODE = 'insufficient_privilege';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER person_requests_rows_stay BEFORE UPDATE OR DELETE ON person_requests
    FOR EACH ROW EXECUTE FUNCTION person_requests_stay();
CREATE TRIGGER person_requests_table_stays BEFORE TRUNCATE ON person_requests
    FOR EACH STATEMENT EXECUTE FUNCTION person_requests_stay();

-- Tenants that are disabled, are being erased, or were erased. A row of an erased tenant stays for ever: it keeps the id from being
-- used again, and says where rows of the tenant may come back from a restored database. It has no personal data.
CREATE TABLE offboardings (
    tenant_id       uuid        PRIMARY KEY,
    state           text        NOT NULL CHECK (state IN ('DISABLED', 'ERASING', 'ERASED')),
    requested_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    erase_after     timestamptz NOT NULL,
    actor_kind      text        NOT NULL CHECK (actor_kind IN ('BACKOFFICE_ACCOUNT', 'SYSTEM')),
    actor_id        text        NOT NULL CHECK (char_length(actor_id) <= 128),
    -- What the tenant gets back if the off-boarding is cancelled.
    api_access      boolean     NOT NULL,
    -- All keys that the tenant ever had: some rows of other services name only a key.
    key_ids         int[]       NOT NULL,
    erased_at       timestamptz,
    checked_at      timestamptz,
    -- What the erasure waited for when it was last tried.
    waiting_for     text[]      NOT NULL DEFAULT '{}',
    -- When a worker looks at the row again; a worker that holds it moves this ahead.
    next_attempt_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT offboardings_erased CHECK ((state = 'ERASED') = (erased_at IS NOT NULL))
);
-- Serves the worker.
CREATE INDEX offboardings_due ON offboardings (next_attempt_at);

-- The report: how many rows each table had before and after the erasure.
CREATE TABLE offboarding_tables (
    tenant_id   uuid        NOT NULL,
    service     text        NOT NULL,
    table_name  text        NOT NULL,
    rows_before bigint      NOT NULL CHECK (rows_before >= 0),
    before_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    rows_after  bigint      CHECK (rows_after >= 0),
    after_at    timestamptz,
    -- Why the rows are not erased; empty: they are.
    kept        text        NOT NULL,
    PRIMARY KEY (tenant_id, service, table_name)
);

-- Who did what, also of an off-boarding that was cancelled. Rows are appended and never changed.
CREATE TABLE offboarding_steps (
    id         bigint      GENERATED ALWAYS AS IDENTITY,
    tenant_id  uuid        NOT NULL,
    at         timestamptz NOT NULL DEFAULT clock_timestamp(),
    action     text        NOT NULL,
    actor_kind text        NOT NULL CHECK (actor_kind IN ('BACKOFFICE_ACCOUNT', 'SYSTEM')),
    actor_id   text        NOT NULL CHECK (char_length(actor_id) <= 128),
    PRIMARY KEY (tenant_id, id)
);

-- +goose StatementBegin
CREATE FUNCTION offboarding_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append-only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER offboarding_steps_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON offboarding_steps
    FOR EACH STATEMENT EXECUTE FUNCTION offboarding_stays();
-- +goose StatementBegin
CREATE FUNCTION offboarding_begun_stays() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.state = 'DISABLED' THEN
        RETURN OLD;
    END IF;
    RAISE EXCEPTION 'an erasure that has begun stays' USING ERRCODE = 'insufficient_privilege';
END
$$;
-- +goose StatementEnd
CREATE TRIGGER offboardings_begun_stay BEFORE DELETE ON offboardings
    FOR EACH ROW EXECUTE FUNCTION offboarding_begun_stays();

-- What the database server said of itself when it was last looked at; empty before the first look. After a restore it says
-- something else.
CREATE TABLE database_server (
    identity text NOT NULL,
    -- When the server started. A server whose disk was set back has started since.
    started  text NOT NULL
);
INSERT INTO database_server VALUES ('', '');
