-- +goose Up

-- How long gifts take by country, as a list of {country, minBusinessDays, maxBusinessDays}. It is read with the gift site only.
ALTER TABLE gift_sites ADD COLUMN delivery_times jsonb NOT NULL DEFAULT '[]'
    CHECK (jsonb_typeof(delivery_times) = 'array' AND jsonb_array_length(delivery_times) <= 250);
