-- +goose Up

-- Serves GET /orders of a key limited to brands, and ?brandId=…: without it the page of a small brand
-- would be searched among all orders of the tenant.
CREATE INDEX orders_brand ON orders (tenant_id, brand_id, created_at DESC, id DESC);

-- Serves GET /orders?status=…, also for a status that few orders of the tenant have.
CREATE INDEX orders_status ON orders (tenant_id, status, created_at DESC, id DESC);

-- Serves the search of the operations plane by campaign.
CREATE INDEX orders_campaign ON orders (tenant_id, campaign_id, created_at DESC, id DESC)
    WHERE campaign_id IS NOT NULL;
