package postgres

import (
	"errors"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/partnergifting/platform/pkg/settings"
)

// errURL does not repeat the cause, which quotes parts of the URL.
var errURL = errors.New("is not understood: it must look like postgres://user:password@host:5432/database?sslmode=verify-full")

// Validate implements the check of package settings.
func (c Config) Validate() error {
	if _, err := pgxpool.ParseConfig(c.URL); err != nil {
		return settings.Invalid("DATABASE_URL", errURL)
	}
	return nil
}
