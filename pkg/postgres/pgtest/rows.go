package pgtest

import (
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// plan is a node of the output of EXPLAIN.
type plan struct {
	Rows    float64 `json:"Actual Rows"`
	Loops   float64 `json:"Actual Loops"`
	Removed float64 `json:"Rows Removed by Filter"`
	Plans   []plan
}

// rows is how many rows the node and those below it returned or filtered out.
func (p plan) rows() int {
	n := int((p.Rows + p.Removed) * p.Loops)
	for _, below := range p.Plans {
		n += below.rows()
	}
	return n
}

// Rows runs a statement and returns how many rows all nodes of its plan read, and how many it returned.
func Rows(t *testing.T, pool *pgxpool.Pool, sql string, args ...any) (read, returned int) {
	t.Helper()
	var raw string
	require.NoError(t, pool.QueryRow(t.Context(), "EXPLAIN (ANALYZE, FORMAT JSON) "+sql, args...).Scan(&raw))
	var plans []struct{ Plan plan }
	require.NoError(t, json.Unmarshal([]byte(raw), &plans), raw)
	return plans[0].Plan.rows(), int(plans[0].Plan.Rows)
}
