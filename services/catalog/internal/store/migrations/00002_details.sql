-- +goose Up

-- What only the page of a gift on the gift site says: {locale: {maker, material, size, story}}; en-US is that of the gift itself. It
-- is not in translations, because a version that does not know it would drop it there.
ALTER TABLE products ADD COLUMN details jsonb NOT NULL DEFAULT '{}';
