// Package migrations holds the migrations of all services to the rule of a rollout without a pause.
//
// # The rule
//
// A version's migrations run before its first instance starts, while the version before still serves, and stay when
// the rollout is taken back. So the code of a version runs on its own schema and on the next one's, and a migration
// expands: it adds tables, columns that may be null or have a default, indexes, looser constraints. It neither takes
// away nor changes what the version before uses, nor holds a lock for as long as a large table takes:
//
//   - no column, table, type, view or function is dropped, renamed or given another type, no default is dropped;
//   - no column that must be filled is added without a default, and none that is there becomes NOT NULL;
//   - a default that differs by row is given in a later statement than its column, which would rewrite the table;
//   - an index on a table of before is made CONCURRENTLY, in a file of its own with `-- +goose NO TRANSACTION`;
//   - a constraint on a table of before is added NOT VALID, and validated in a later file;
//   - rows are filled in by the code, in small parts, and not by an UPDATE or DELETE of the migration.
//
// What is no longer needed is contracted by a later version, once none that uses it can run any more. Such a statement,
// as every other exception, says why it is safe in a comment right above it:
//
//	-- contract: read by no version since 1.4
//	ALTER TABLE orders DROP COLUMN note;
//
// A table that the same file makes is nobody's yet: all is allowed on it.
//
// `serve` refuses a database that lacks a migration, and runs on one that is ahead; `migrate --check` says which it is.
package migrations
