package catalog_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/types/known/timestamppb"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// putMany makes published gifts for Sweden with a price in NORDICS, faster than by calls, and gives
// their ids.
func (s *stack) putMany(n int) []string {
	s.t.Helper()
	var all []string
	err := s.db.QueryRow(s.t.Context(), `WITH made AS (
  INSERT INTO products (id, state, published_once, name, description, translations, variations, categories,
    available_countries, image_file_ids, customization_available, gift_set, ready_to_send, updated_at)
  SELECT gen_random_uuid(), 'PUBLISHED', true, 'Gift ' || n, 'Warm.', '{"sv-SE": {"name": "Gåva", "description": ""}}',
    '[{"dimension": "Size", "values": ["S", "M"]}]', '{}', '{SE}', '{}', false, false, true,
    clock_timestamp() - interval '1 day' + n * interval '1 millisecond'
  FROM generate_series(1, $1) AS n RETURNING id
), priced AS (
  INSERT INTO product_prices (product_id, region, amount_eur) SELECT id, 'NORDICS', 10 FROM made
)
SELECT array_agg(id::text) FROM made`, n).Scan(&all)
	require.NoError(s.t, err)
	_, err = s.db.Exec(s.t.Context(), `ANALYZE`)
	require.NoError(s.t, err)
	return all
}

// TestALargeCatalogThatChangesIsCopiedExactly loads twenty thousand gifts and syncs beside writers.
func TestALargeCatalogThatChangesIsCopiedExactly(t *testing.T) {
	const gifts, writers = 20_000, 2
	s := setup(t)
	s.putRegion("NORDICS", "SE", "FI")
	all := s.putMany(gifts)
	loaded := make(chan struct{})
	var group errgroup.Group
	changes := make([]int, writers)
	for w := range writers {
		group.Go(func() (err error) {
			changes[w], err = s.scribbleUntil(t.Context(), loaded, rand.New(rand.NewPCG(3, uint64(w))), all)
			return err
		})
	}
	m := &mirror{s: s, gifts: map[string]string{}, page: 100}
	m.read(nil)
	for range 3 {
		m.read(timestamppb.New(m.newest.Add(-5 * time.Minute)))
	}
	close(loaded)
	require.NoError(t, group.Wait())
	require.Greater(t, changes[0]+changes[1], 100, "the writers must have run beside the load")
	m.read(timestamppb.New(m.newest.Add(-5 * time.Minute)))

	truth := &mirror{s: s, gifts: map[string]string{}, page: 100}
	truth.read(nil)
	require.Greater(t, len(truth.gifts), gifts/2)
	require.Equal(t, truth.gifts, m.gifts)
}

// scribbleUntil changes random gifts until the end, and counts.
func (s *stack) scribbleUntil(ctx context.Context, end <-chan struct{}, random *rand.Rand, all []string) (changes int, err error) {
	for {
		select {
		case <-end:
			return changes, nil
		default:
		}
		p := changed(random, all)
		p.Prices = []*catalogv1.RegionPrice{{Region: "NORDICS", AmountEur: "12"}}
		if _, err := s.ops.PutProduct(ctx, p); err != nil {
			return changes, err
		}
		changes++
	}
}
