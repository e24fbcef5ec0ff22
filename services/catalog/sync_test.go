package catalog_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"google.golang.org/protobuf/types/known/timestamppb"

	catalogv1 "github.com/partnergifting/platform/proto/gen/gifting/catalog/v1"
)

// mirror is a reader that keeps a copy by the documented procedure.
type mirror struct {
	s      *stack
	gifts  map[string]string
	newest time.Time
	// page is the size of a page; zero: 7.
	page int32
}

func (m *mirror) read(since *timestamppb.Timestamp) {
	for _, e := range m.s.list(&catalogv1.ListProductsRequest{Country: "SE", UpdatedSince: since, Limit: limit(cmp.Or(m.page, 7))}) {
		at := e.GetUnlisted().GetUpdatedAt()
		if p := e.GetProduct(); p != nil {
			m.gifts[p.GetId()] = p.String()
			at = p.GetUpdatedAt()
		} else {
			delete(m.gifts, e.GetUnlisted().GetId())
		}
		if at.AsTime().After(m.newest) {
			m.newest = at.AsTime()
		}
	}
}

// TestAReaderThatSyncsMissesNothing reads while writers change the catalog. After the first sync it
// asks for changes since the newest it holds without going back five minutes, as integrators do:
// changes become visible in the order of updatedAt, so even that must miss none.
func TestAReaderThatSyncsMissesNothing(t *testing.T) {
	const writers, changesEach, gifts = 4, 50, 30
	s := setup(t)
	s.putRegion("NORDICS", "SE", "FI")
	s.putRegion("ELSEWHERE", "DE")
	all := make([]string, gifts)
	for i := range all {
		p := gift()
		all[i] = p.GetId()
		s.put(p)
	}
	m := &mirror{s: s, gifts: map[string]string{}}

	var group errgroup.Group
	for w := range writers {
		group.Go(func() error { return s.scribble(t.Context(), rand.New(rand.NewPCG(1, uint64(w))), all, changesEach) })
	}
	done := make(chan error, 1)
	go func() { done <- group.Wait() }()

	m.read(nil)
	m.read(timestamppb.New(m.newest.Add(-5 * time.Minute)))
	syncs, running := 0, true
	for running {
		select {
		case err := <-done:
			require.NoError(t, err)
			running = false
		default:
		}
		m.read(timestamppb.New(m.newest))
		syncs++
	}
	require.Greater(t, syncs, 3, "the reader must have run beside the writers")
	truth := &mirror{s: s, gifts: map[string]string{}}
	truth.read(nil)
	require.Equal(t, truth.gifts, m.gifts)
}

// scribble changes random gifts and regions.
func (s *stack) scribble(ctx context.Context, random *rand.Rand, all []string, changes int) error {
	for i := range changes {
		if random.IntN(8) == 0 {
			if err := s.moveCountry(ctx, random.IntN(2) == 0); err != nil {
				return err
			}
			continue
		}
		p := gift(func(p *catalogv1.PutProductRequest) {
			p.Id = all[random.IntN(len(all))]
			p.Name = fmt.Sprintf("Gift %d", random.IntN(3))
			p.State = catalogv1.ProductState(1 + random.IntN(4))
			if i%2 == 0 {
				p.State = catalogv1.ProductState_PRODUCT_STATE_PUBLISHED
				p.Prices = []*catalogv1.RegionPrice{{Region: "NORDICS", AmountEur: fmt.Sprint(1 + random.IntN(3))}}
			}
		})
		if _, err := s.ops.PutProduct(ctx, p); err != nil {
			return err
		}
	}
	return nil
}

func (s *stack) moveCountry(ctx context.Context, home bool) error {
	region := "ELSEWHERE"
	if home {
		region = "NORDICS"
	}
	_, err := s.ops.PutRegion(ctx, &catalogv1.PutRegionRequest{Code: region, Countries: []string{"SE"}})
	return err
}
