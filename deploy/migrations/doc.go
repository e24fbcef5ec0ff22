// Package migrations checks that the migrations of all services allow a rollout without downtime.
//
// # The rule
//
// A version's migrations run before its first instance starts, while the previous version still serves, and stay after a
// rollback. So the code of a version runs on its own schema and on the next one, and a migration only expands: it adds tables,
// columns that may be null or have a default, indexes, and looser constraints. It must not remove or change what the previous
// version uses, and must not hold a lock for long on a large table:
//
//   - no column, table, type, view or function is dropped, renamed or given another type, no default is dropped;
//   - no NOT NULL column is added without a default, and no existing column becomes NOT NULL;
//   - a default that differs by row is given in a later statement than its column, which would rewrite the table;
//   - an index on an existing table is made CONCURRENTLY, in its own file with `-- +goose NO TRANSACTION`, which first drops it
//     IF EXISTS: a build that is interrupted leaves an invalid index, and the migration must be repeatable;
//   - a constraint on an existing table is added NOT VALID, and validated in a later file;
//   - one existing table is altered in a file, because the previous version may lock two tables in another order;
//   - rows are changed by the code in small batches, not by an UPDATE or DELETE of the migration.
//
// A later version removes what is no longer needed (contracts), once no version that uses it can run. Such a statement, like
// every other exception, has a comment right above it that says why it is safe:
//
//	-- contract: read by no version since 1.4
//	ALTER TABLE orders DROP COLUMN note;
//
// On a table that the same file creates, everything is allowed.
//
// `serve` refuses a database that lacks a migration, and runs on one that is ahead; `migrate --check` shows the state.
package migrations
