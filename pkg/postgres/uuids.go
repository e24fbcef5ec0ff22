package postgres

import "github.com/jackc/pgx/v5/pgtype"

// UUIDs is a parameter of type uuid[]. It is sent in binary. A []string is sent as text, which pgx finds out each time
// and the server has to parse; with few ids that takes longer than the statement itself. An
// id that is not a UUID fails the statement before it is sent.
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
