package postgres

import (
	"errors"

	"github.com/jackc/pgx/v5/pgtype"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/enumname"
)

// Column returns one value of each row, for a statement that unnests arrays.
func Column[R, V any](rows []R, value func(row R) V) []V {
	column := make([]V, len(rows))
	for i, row := range rows {
		column[i] = value(row)
	}
	return column
}

// UUIDColumn is Column for ids.
func UUIDColumn[R any](rows []R, id func(row R) string) UUIDs { return Column(rows, id) }

var errInfinite = errors.New("timestamp is infinite")

// ScanTime is a scan target that sets a timestamp of a message. NULL unsets it.
func ScanTime(into **timestamppb.Timestamp) any { return timeTarget{into} }

type timeTarget struct{ into **timestamppb.Timestamp }

// ScanTimestamptz implements pgtype.TimestamptzScanner.
func (t timeTarget) ScanTimestamptz(v pgtype.Timestamptz) error {
	*t.into = nil
	if v.InfinityModifier != pgtype.Finite {
		return errInfinite
	}
	if v.Valid {
		*t.into = timestamppb.New(v.Time)
	}
	return nil
}

// ScanEnum is a scan target that reads the API's name of an enum value. NULL reads as 0.
func ScanEnum[E enumname.Enum](into *E) any { return enumTarget[E]{into} }

type enumTarget[E enumname.Enum] struct{ into *E }

// ScanText implements pgtype.TextScanner.
func (t enumTarget[E]) ScanText(v pgtype.Text) error {
	*t.into, _ = enumname.Parse[E](v.String)
	return nil
}

// Nullable returns a pointer to v for a column that may be NULL, nil for the zero value.
func Nullable[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// Value returns what p points to, the zero value for nil.
func Value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

// UUIDs is a parameter of type uuid[]. It is sent in binary. pgx sends a []string as text, which the server has to parse; with
// few ids that takes longer than the statement itself. An id that is not a UUID fails the statement before it is sent.
type UUIDs []string

// Dimensions implements pgtype.ArrayGetter.
func (u UUIDs) Dimensions() []pgtype.ArrayDimension {
	if u == nil {
		return nil
	}
	return []pgtype.ArrayDimension{{Length: int32(len(u)), LowerBound: 1}} //nolint:gosec // The wire format allows no more.
}

// Index implements pgtype.ArrayGetter.
func (u UUIDs) Index(i int) any { return textOfUUID(u[i]) }

// IndexType implements pgtype.ArrayGetter.
func (u UUIDs) IndexType() any { return textOfUUID("") }

type textOfUUID string

// UUIDValue implements pgtype.UUIDValuer.
func (t textOfUUID) UUIDValue() (id pgtype.UUID, err error) {
	err = id.Scan(string(t))
	return id, err
}
