package server

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/enumname"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/outbox"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/restjson"
	commonv1 "github.com/partnergifting/platform/proto/gen/gifting/common/v1"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/rules"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

const (
	// maxPersonRecords is how many links a person may have.
	maxPersonRecords = 2000
	// erasedToken ends the claim URL of an erased link. It is no token, so the gift site answers 404.
	erasedToken = "erased"
	// maxExport is in bytes. With this document and that of the orders, a response stays below the largest gRPC message.
	maxExport = 14 << 20
)

// FindPersonRecords lists the links of a person.
func (s *Server) FindPersonRecords(
	ctx context.Context, req *privacyv1.FindPersonRecordsRequest,
) (*privacyv1.FindPersonRecordsResponse, error) {
	errs := caller.RequestErrors(ctx)
	tenantID := errs.RequiredUUID("tenantId", req.GetTenantId())
	ids := errs.UUIDs("personalLinkIds", req.GetPersonalLinkIds(), maxPersonRecords)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	found, err := s.Store.PersonLinks(ctx, tenantID, fields.Optional(req.ExternalRecipientId), ids, maxPersonRecords+1)
	if err != nil {
		return nil, err
	}
	resp := &privacyv1.FindPersonRecordsResponse{}
	if resp.Unpublished, err = outbox.Unpublished(ctx, s.Store.Pool(), tenantID, ids); err != nil {
		return nil, err
	}
	for _, l := range found {
		resp.Records = append(resp.Records, &privacyv1.PersonRecord{PersonalLinkId: &l.Id, OrderId: l.OrderId})
	}
	return resp, nil
}

// personRequest has the fields that erasing and exporting share.
type personRequest interface {
	GetTenantId() string
	GetRequestedBy() *commonv1.Actor
	GetRecordIds() []string
}

// readPersonRequest checks the form of a request. The tenants service has checked what the actor may do.
func readPersonRequest(
	ctx context.Context, req personRequest, action string,
) (tenantID string, ids []string, by store.Audit, err error) {
	errs := caller.RequestErrors(ctx)
	caller.CheckActor(req.GetRequestedBy(), errs)
	tenantID, ids = errs.RequiredUUID("tenantId", req.GetTenantId()), errs.UUIDs("recordIds", req.GetRecordIds(), maxPersonRecords)
	by = store.Audit{
		Action: action, ActorKind: enumname.String(req.GetRequestedBy().GetKind()), ActorID: req.GetRequestedBy().GetId(),
	}
	return tenantID, ids, by, errs.Err()
}

// ErasePersonRecords erases the personal data of links. A claim in flight is reconciled first: its order then remains, and is
// returned with its link.
func (s *Server) ErasePersonRecords(
	ctx context.Context, req *privacyv1.ErasePersonRecordsRequest,
) (*privacyv1.ErasePersonRecordsResponse, error) {
	tenantID, ids, by, err := readPersonRequest(ctx, req, store.Erased)
	if err != nil {
		return nil, err
	}
	// First, because only the links say which recipient ids are the person's. Answers may also name those as rejected.
	recipients, err := s.Store.Recipients(ctx, tenantID, ids)
	if err != nil {
		return nil, err
	}
	if id := req.GetExternalRecipientId(); id != "" {
		recipients = append(recipients, id)
	}
	if len(recipients) > 0 {
		if err := s.eraseAnswers(ctx, req.GetKeyIds(), nil, recipients); err != nil {
			return nil, err
		}
	}
	var links []*rules.Link
	// Each link may have one claim in flight, and its player may start another.
	for range len(ids) + maxReconciled {
		var locked *rules.Link
		links, locked, err = s.Store.ErasePersonalData(ctx, tenantID, ids, by, rules.ClaimURL(s.ClaimURL, erasedToken), s.Clock())
		if !errors.Is(err, rules.ErrClaimLocked) {
			break
		}
		if _, err = s.Claims.Reconcile(ctx, locked); err != nil {
			return nil, err
		}
		err = problem.Unavailable()
	}
	if err != nil {
		return nil, err
	}
	// An answer that is stored from now on has the erased link.
	if err := s.eraseAnswers(ctx, req.GetKeyIds(), ids, nil); err != nil {
		return nil, err
	}
	resp := &privacyv1.ErasePersonRecordsResponse{}
	for _, l := range links {
		resp.Records = append(resp.Records, &privacyv1.PersonRecord{PersonalLinkId: &l.Record.Id, OrderId: l.Record.OrderId})
	}
	return resp, nil
}

// exportedLink is a link in the document.
type exportedLink struct {
	Details      json.RawMessage            `json:"details"`
	CustomFields []fields.CustomFieldAnswer `json:"customFields,omitempty"`
}

// ExportPersonRecords returns links with their details.
func (s *Server) ExportPersonRecords(
	ctx context.Context, req *privacyv1.ExportPersonRecordsRequest,
) (*privacyv1.ExportPersonRecordsResponse, error) {
	tenantID, ids, by, err := readPersonRequest(ctx, req, store.Exported)
	if err != nil {
		return nil, err
	}
	links, err := s.Store.Export(ctx, tenantID, ids, by)
	if err != nil {
		return nil, err
	}
	document := bytes.NewBufferString("[")
	for _, l := range links {
		link, err := exportLink(l)
		if err != nil {
			return nil, err
		}
		if document.Len() > 1 {
			document.WriteByte(',')
		}
		document.Write(link)
		if document.Len() > maxExport {
			return nil, problem.New(problem.PayloadTooLarge, "The export is too large: export the orders and links one by one.")
		}
	}
	document.WriteByte(']')
	return &privacyv1.ExportPersonRecordsResponse{Document: document.Bytes()}, nil
}

func exportLink(l *rules.Link) (_ []byte, err error) {
	var link exportedLink
	if link.Details, err = restjson.Marshal(detailsOf(l)); err != nil {
		return nil, fmt.Errorf("export link: %w", err)
	}
	if l.Details != nil {
		link.CustomFields = l.Details.Answers
	}
	return json.Marshal(link)
}
