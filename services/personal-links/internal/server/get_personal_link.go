package server

import (
	"context"
	"errors"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	linksv1 "github.com/partnergifting/platform/proto/gen/gifting/personallinks/v1"
	"github.com/partnergifting/platform/services/personal-links/internal/store"
)

// GetPersonalLink reads one link (API specification, GET /personal-links/{linkId}).
func (s *Server) GetPersonalLink(
	ctx context.Context, req *linksv1.GetPersonalLinkRequest,
) (*linksv1.GetPersonalLinkResponse, error) {
	principal, err := caller.PrincipalFrom(ctx)
	if err != nil {
		return nil, err
	}
	id, ok := fields.ParseUUID(req.GetLinkId())
	if !ok {
		return nil, problem.RecordNotFound()
	}
	record, err := s.Store.GetRecord(ctx, principal.TenantID, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && !principal.Reaches(record.GetBrandId()) {
		return nil, problem.RecordNotFound()
	}
	return &linksv1.GetPersonalLinkResponse{Link: record}, err
}

// ReadPersonalLink reads a link with the fields that only the team and the operator may see.
func (s *Server) ReadPersonalLink(
	ctx context.Context, req *linksv1.ReadPersonalLinkRequest,
) (*linksv1.ReadPersonalLinkResponse, error) {
	tenantID, err := s.permit(ctx, linksv1.PersonalLinkOperationsService_ReadPersonalLink_FullMethodName, req,
		caller.RequestErrors(ctx))
	if err != nil {
		return nil, err
	}
	link, err := s.Store.Get(ctx, tenantID, idOrUnknown(req.GetLinkId()))
	if err != nil {
		return nil, notFound(err)
	}
	return &linksv1.ReadPersonalLinkResponse{Details: detailsOf(link)}, nil
}
