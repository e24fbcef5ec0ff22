// Package postgres opens a service's own database: the pool, transactions as closures, pipelined
// batches, migrations, and one translation of SQL errors into sentinels.
package postgres
