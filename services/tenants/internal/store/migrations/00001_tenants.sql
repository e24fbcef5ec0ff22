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

-- API keys. Only a hash of the key is stored; the signing secret is sealed.
CREATE TABLE api_keys (
    tenant_id      uuid        NOT NULL REFERENCES tenants (id),
    id             int         GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- SHA-256 of the whole key. Its index serves the authentication of a request.
    hash           bytea       NOT NULL CONSTRAINT api_keys_hash UNIQUE CHECK (octet_length(hash) = 32),
    prefix         text        NOT NULL CHECK (char_length(prefix) BETWEEN 1 AND 32),
    name           text        NOT NULL CHECK (char_length(name) BETWEEN 1 AND 100),
    scopes         text[]      NOT NULL CHECK (scopes <@ ARRAY ['CATALOG', 'ORDERS', 'PERSONAL_LINKS']),
    all_brands     boolean     NOT NULL,
    -- Brands of the tenant, checked under the lock of its row; brands are never removed.
    brand_ids      uuid[]      NOT NULL,
    webhook_url    text        CHECK (char_length(webhook_url) BETWEEN 1 AND 2048),
    webhook_secret bytea       NOT NULL,
    revoked_at     timestamptz,
    created_at     timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT api_keys_brands CHECK (NOT all_brands OR cardinality(brand_ids) = 0)
);

-- Serves the list of a tenant's webhook endpoints.
CREATE INDEX api_keys_endpoints ON api_keys (tenant_id, id)
    WHERE revoked_at IS NULL AND webhook_url IS NOT NULL;
