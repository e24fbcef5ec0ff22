package bench_test

import "sync/atomic"

// ids counts up for all clients.
type ids struct{ last atomic.Int64 }

func (i *ids) next() int64 { return i.last.Add(1) }

// shelf gives one order after the other, and begins again.
type shelf struct {
	ids

	orders []string
}

func (s *shelf) any() string { return s.orders[s.next()%int64(len(s.orders))] }
