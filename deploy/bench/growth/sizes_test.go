package growth_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/partnergifting/platform/deploy/bench/fixture"
)

// The others are compared with the smallest.
const smallest = 10_000

// sizes are numbers of rows.
func sizes() []int {
	if testing.Short() {
		return []int{smallest, 100_000}
	}
	return []int{smallest, 1_000_000, 10_000_000}
}

// nameOf returns a size as metrics name it.
func nameOf(size int) string {
	const thousand, million = 1_000, 1_000_000
	if size >= million {
		return fmt.Sprintf("%dM", size/million)
	}
	return fmt.Sprintf("%dk", size/thousand)
}

// platform is a platform with a number of rows.
type platform struct {
	*fixture.Platform

	size        int
	tenant      fixture.Tenant
	bytesOfEach float64
}

// storage measures the size of a row, with its share of everything else.
func (p *platform) storage(b *testing.B, pool *pgxpool.Pool) {
	b.Helper()
	var bytes float64
	require.NoError(b, pool.QueryRow(b.Context(), "SELECT pg_database_size(current_database())").Scan(&bytes))
	p.bytesOfEach = bytes / float64(p.size)
	b.Logf("%s rows: %.0f MB, %.0f bytes of each", nameOf(p.size), bytes/(1<<20), p.bytesOfEach)
}

func newPlatforms(b *testing.B) []*platform {
	b.Helper()
	var all []*platform
	for _, size := range sizes() {
		p := &platform{Platform: fixture.Start(b), size: size}
		p.tenant = p.NewTenant(b)
		all = append(all, p)
	}
	return all
}
