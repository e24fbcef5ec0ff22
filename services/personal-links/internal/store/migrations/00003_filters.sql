-- +goose Up

-- Serves the list by status: few of many links may have it.
CREATE INDEX links_status ON links (tenant_id, status, created_at DESC, id DESC);
-- Serves the list of a key that is limited to brands, which may have few of the tenant's links.
CREATE INDEX links_brand ON links (tenant_id, brand_id, created_at DESC, id DESC);
