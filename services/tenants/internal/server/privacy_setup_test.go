package server_test

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/partnergifting/platform/pkg/problem"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
)

// record is an order or a link in a fake of a service.
type record struct {
	tenant, id, other, recipient string
	inFlight, erased             bool
}

// records is a fake of a service that stores personal data. orders says which of the two.
type records struct {
	privacyv1.PersonalDataServiceClient

	orders bool
	mu     sync.Mutex
	all    []*record
	// fail makes every change fail, before or after its effect.
	failBefore, failAfter error
	erasures              int
	// recipient is the one that the last erasure named.
	recipient string
	// unpublished is how many events are on their way. Each search finds one less.
	unpublished int64
	// during is called once before the next erasure or export, and reading before the next search.
	during, reading func()
}

// interrupt calls *what once.
func (r *records) interrupt(what *func()) {
	r.mu.Lock()
	do := *what
	*what = nil
	r.mu.Unlock()
	if do != nil {
		do()
	}
}

func (r *records) add(added record) *record {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = append(r.all, &added)
	return &added
}

// locked calls do with the lock held, to change the records.
func (r *records) locked(do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do()
}

func (r *records) present(found *record) *privacyv1.PersonRecord {
	own, other := &found.id, &found.other
	if *other == "" {
		other = nil
	}
	if r.orders {
		return &privacyv1.PersonRecord{OrderId: own, PersonalLinkId: other, InFlight: found.inFlight}
	}
	return &privacyv1.PersonRecord{PersonalLinkId: own, OrderId: other}
}

func (r *records) FindPersonRecords(
	_ context.Context, req *privacyv1.FindPersonRecordsRequest, _ ...grpc.CallOption,
) (*privacyv1.FindPersonRecordsResponse, error) {
	r.interrupt(&r.reading)
	r.mu.Lock()
	defer r.mu.Unlock()
	resp := &privacyv1.FindPersonRecordsResponse{Unpublished: r.unpublished}
	r.unpublished = max(0, r.unpublished-1)
	for _, one := range r.all {
		byID := slices.Contains(req.GetPersonalLinkIds(), one.id)
		if r.orders {
			byID = slices.Contains(req.GetOrderIds(), one.id) || slices.Contains(req.GetPersonalLinkIds(), one.other)
		}
		if one.tenant == req.GetTenantId() &&
			(byID || !one.erased && req.ExternalRecipientId != nil && one.recipient == req.GetExternalRecipientId()) {
			resp.Records = append(resp.Records, r.present(one))
		}
	}
	return resp, nil
}

func (r *records) ErasePersonRecords(
	_ context.Context, req *privacyv1.ErasePersonRecordsRequest, _ ...grpc.CallOption,
) (*privacyv1.ErasePersonRecordsResponse, error) {
	r.interrupt(&r.during)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failBefore != nil {
		return nil, r.failBefore
	}
	r.recipient = req.GetExternalRecipientId()
	if len(req.GetRecordIds()) > 2000 {
		return nil, problem.Invalid(problem.Violation{Field: "recordIds", Code: problem.FieldInvalid})
	}
	var named []*record
	for _, one := range r.all {
		if one.tenant == req.GetTenantId() && slices.Contains(req.GetRecordIds(), one.id) {
			if one.inFlight {
				return nil, problem.New(problem.NotEditable, "in flight: %s", one.id)
			}
			named = append(named, one)
		}
	}
	resp := &privacyv1.ErasePersonRecordsResponse{}
	for _, one := range named {
		if !one.erased {
			one.erased = true
			r.erasures++
		}
		resp.Records = append(resp.Records, r.present(one))
	}
	return resp, r.failAfter
}

func (r *records) ExportPersonRecords(
	_ context.Context, req *privacyv1.ExportPersonRecordsRequest, _ ...grpc.CallOption,
) (*privacyv1.ExportPersonRecordsResponse, error) {
	r.interrupt(&r.during)
	document, err := json.Marshal(req.GetRecordIds())
	return &privacyv1.ExportPersonRecordsResponse{Document: document}, err
}

// eventService is a fake of a service that stores events.
type eventService struct {
	privacyv1.RecordEventsServiceClient

	mu sync.Mutex
	// sending is how many calls find events that are being sent, and on what is called in each.
	sending int
	on      func()
	fail    error
	erased  []string
}

func (f *eventService) EraseRecordEvents(
	_ context.Context, req *privacyv1.EraseRecordEventsRequest, _ ...grpc.CallOption,
) (*privacyv1.EraseRecordEventsResponse, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.on != nil {
		f.on()
	}
	if f.fail != nil {
		return nil, f.fail
	}
	f.sending--
	f.erased = append(f.erased, req.GetRecordIds()...)
	return &privacyv1.EraseRecordEventsResponse{
		Done: f.sending < 0, Remainders: []*privacyv1.Remainder{{Place: "kafka", Kept: durationpb.New(7 * 24 * time.Hour)}},
	}, nil
}
