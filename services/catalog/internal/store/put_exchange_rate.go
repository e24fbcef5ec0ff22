package store

import "context"

const upsertRate = `INSERT INTO exchange_rates (currency, rate) VALUES ($1, $2)
ON CONFLICT (currency) DO UPDATE SET rate = EXCLUDED.rate, updated_at = clock_timestamp()
WHERE exchange_rates.rate <> EXCLUDED.rate`

// PutExchangeRate sets the units of a currency for one euro.
func (s *Store) PutExchangeRate(ctx context.Context, currency, rate string) error {
	_, err := s.pool.Exec(ctx, upsertRate, currency, rate)
	return err
}
