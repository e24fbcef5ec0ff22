// Package server implements the gRPC methods of the event feed.
package server

import (
	"context"
	"encoding/binary"
	"sync/atomic"
	"time"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/page"
	"github.com/partnergifting/platform/pkg/seal"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
	"github.com/partnergifting/platform/services/events/internal/store"
)

// Feed are the reads of the server. The store implements it.
type Feed interface {
	Bounds(ctx context.Context, tenantID string, epoch int64) (store.Bounds, error)
	End(ctx context.Context, tenantID string) (store.Position, error)
	Scan(ctx context.Context, tenantID string, after store.Position, f store.Filter, limit int) ([]store.Row, store.Bounds, error)
}

// Server implements EventsService.
type Server struct {
	eventsv1.UnimplementedEventsServiceServer

	feed        Feed
	reader      *seal.EventReader
	environment apikey.Environment
	// epoch is that of the last scan.
	epoch atomic.Int64
}

// New makes a server for a deployment. The reader opens events.
func New(feed Feed, reader *seal.EventReader, environment apikey.Environment) *Server {
	return &Server{feed: feed, reader: reader, environment: environment}
}

// Collectors are the methods that report the gateway's field errors together with their own.
func Collectors() []string {
	return []string{eventsv1.EventsService_ListEvents_FullMethodName}
}

const (
	// positionLen is the length of a day and a number. The epoch follows them.
	positionLen  = 4 + 8
	cursorLen    = positionLen + 4
	secondsOfDay = 24 * 60 * 60
	// latestDay, in days since 1970, keeps the day of a forged cursor within the range of PostgreSQL's dates.
	latestDay = 1_000_000
)

// binding ties a cursor to the tenant, not to what the key may see: a cursor stays valid when the key's
// brands and scopes change.
func binding(tenantID string) page.Binding { return page.Bind("events", tenantID) }

func encode(b page.Binding, p store.Position) string {
	raw := make([]byte, 0, cursorLen)
	raw = binary.BigEndian.AppendUint32(raw, uint32(p.Day.Unix()/secondsOfDay)) //nolint:gosec // Days since 1970.
	raw = binary.BigEndian.AppendUint64(raw, uint64(p.Number))                  //nolint:gosec // Read back as signed.
	raw = binary.BigEndian.AppendUint32(raw, uint32(p.Epoch))                   //nolint:gosec // Made of 32 bits.
	return b.Encode(raw)
}

func decode(b page.Binding, s string) (store.Position, error) {
	raw, err := b.Decode(s)
	if err != nil || len(raw) != cursorLen {
		return store.Position{}, page.ErrCursor
	}
	day := int64(binary.BigEndian.Uint32(raw))
	number := int64(binary.BigEndian.Uint64(raw[4:])) //nolint:gosec // Written from a signed value.
	epoch := int64(binary.BigEndian.Uint32(raw[positionLen:]))
	if day > latestDay || number < 0 {
		return store.Position{}, page.ErrCursor
	}
	return store.Position{Epoch: epoch, Day: time.Unix(day*secondsOfDay, 0).UTC(), Number: number}, nil
}
