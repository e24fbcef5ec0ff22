-- +goose Up

-- Few orders are waiting at any time, however many there are in all. If the sample of ANALYZE has no order of a status, the
-- planner assumes that none exists and chooses to read all of them. The default sample of 30,000 rows usually misses 200
-- orders among ten million; a sample ten times as large finds some.
ALTER TABLE orders ALTER COLUMN status SET STATISTICS 1000;
