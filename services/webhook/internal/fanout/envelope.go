package fanout

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/restjson"
	eventsv1 "github.com/partnergifting/platform/proto/gen/gifting/events/v1"
)

// change is a valid Change with the body of its deliveries.
type change struct {
	*eventsv1.Change
	body []byte
	// traceParent is the recorded trace the change came in, or empty.
	traceParent string
}

var (
	errBadID   = errors.New("an id is not a UUID")
	errNoType  = errors.New("the type is missing or not text")
	errBadTime = errors.New("the time is missing or out of range")
	errBadData = errors.New("the data is not JSON")
)

// decode reads a message and makes the envelope, the same bytes as in the feed.
func decode(value []byte, environment string) (change, error) {
	c := &eventsv1.Change{}
	if err := proto.Unmarshal(value, c); err != nil {
		return change{}, fmt.Errorf("not a change: %w", err)
	}
	if err := check(c); err != nil {
		return change{}, err
	}
	body, err := restjson.Marshal(&eventsv1.Event{
		Id:          c.GetEventId(),
		Type:        c.GetType(),
		OccurredAt:  c.GetOccurredAt(),
		Environment: environment,
		Data:        c.GetData(),
	})
	if err != nil {
		return change{}, fmt.Errorf("envelope: %w", err)
	}
	return change{Change: c, body: body}, nil
}

// check also makes the ids canonical, because they are compared with those of other services.
func check(c *eventsv1.Change) error {
	for _, id := range []*string{&c.EventId, &c.TenantId, &c.BrandId} {
		canonical, ok := fields.ParseUUID(*id)
		if !ok {
			return errBadID
		}
		*id = canonical
	}
	switch {
	case c.GetType() == "" || strings.ContainsRune(c.GetType(), 0):
		return errNoType
	case !c.GetOccurredAt().IsValid():
		return errBadTime
	case !json.Valid(c.GetData()):
		return errBadData
	}
	return nil
}
