package store

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/partnergifting/platform/pkg/reencrypt"
	"github.com/partnergifting/platform/services/orders/internal/rules"
)

var errDetails = errors.New("sealed details are not what was sealed")

func (s *Store) openDetails(orderID string, sealed []byte) (details rules.Details, err error) {
	plain, err := s.ring.Open(sealed, associatedData(orderID))
	if err != nil {
		return details, fmt.Errorf("open details: %w", err)
	}
	if json.Unmarshal(plain, &details) != nil {
		return details, errDetails // The cause could quote personal data.
	}
	return details, nil
}

func (s *Store) sealDetails(orderID string, details rules.Details) ([]byte, error) {
	plain, err := json.Marshal(details)
	if err != nil {
		return nil, fmt.Errorf("encode details: %w", err)
	}
	return s.ring.Seal(plain, associatedData(orderID)), nil
}

// associatedData binds sealed details to their column and order.
func associatedData(orderID string) string { return "orders.details_sealed/" + orderID }

// SealedColumns are the columns that hold sealed values.
func SealedColumns() reencrypt.Table {
	return reencrypt.Table{Name: "orders", Columns: []reencrypt.Column{{Name: "details_sealed", AssociatedData: associatedData}}}
}
