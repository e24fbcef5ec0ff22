package postgres

import (
	"errors"

	"github.com/jackc/pgx/v5/pgtype"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/partnergifting/platform/pkg/enumname"
)

var errInfinite = errors.New("timestamp is infinite")

// ScanTime is the target of a scan that puts a timestamp into a member of a message. NULL unsets it.
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

// ScanEnum is the target of a scan that reads the API's name of an enum value. NULL reads as 0.
func ScanEnum[E enumname.Enum](into *E) any { return enumTarget[E]{into} }

type enumTarget[E enumname.Enum] struct{ into *E }

// ScanText implements pgtype.TextScanner.
func (t enumTarget[E]) ScanText(v pgtype.Text) error {
	*t.into, _ = enumname.Parse[E](v.String)
	return nil
}
