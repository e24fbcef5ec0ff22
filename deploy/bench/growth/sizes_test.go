package growth_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/stack"
)

// smallest is what the others are compared with.
const smallest = 10_000

// sizes are numbers of rows.
func sizes() []int {
	if testing.Short() {
		return []int{smallest, 100_000}
	}
	return []int{smallest, 1_000_000, 10_000_000}
}

// nameOf is a size in the name of a metric.
func nameOf(size int) string {
	const thousand, million = 1_000, 1_000_000
	if size >= million {
		return fmt.Sprintf("%dM", size/million)
	}
	return fmt.Sprintf("%dk", size/thousand)
}

// platform is one that holds so many rows.
type platform struct {
	*stack.Stack

	size        int
	tenant      stack.Tenant
	bytesOfEach float64
}

// storage reports how much a row takes, with its share of everything else.
func (p *platform) storage(b *testing.B, pool *pgxpool.Pool) {
	b.Helper()
	var bytes float64
	require.NoError(b, pool.QueryRow(b.Context(), "SELECT pg_database_size(current_database())").Scan(&bytes))
	p.bytesOfEach = bytes / float64(p.size)
	b.Logf("%s rows: %.0f MB, %.0f bytes of each", nameOf(p.size), bytes/(1<<20), p.bytesOfEach)
}

func startAll(b *testing.B) []*platform {
	b.Helper()
	var out []*platform
	for _, size := range sizes() {
		p := &platform{Stack: stack.Start(b), size: size}
		p.tenant = stack.NewTenant(b, p.Operations(b))
		out = append(out, p)
	}
	return out
}
