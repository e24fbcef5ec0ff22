package tenants

import (
	"context"
	"errors"

	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/problem"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
)

// ExportServer is the TenantDataService of a database.
type ExportServer struct {
	privacyv1.UnimplementedTenantDataServiceServer
	Database
}

// request has the fields that all requests share.
type request interface {
	GetTenantId() string
	GetKeyIds() []int32
}

func tenantOf(req request) (Tenant, error) {
	var errs fields.Errors
	tenant := Tenant{ID: errs.RequiredUUID("tenantId", req.GetTenantId()), KeyIDs: req.GetKeyIds()}
	return tenant, errs.Err()
}

// CountTenant counts the rows of a tenant.
func (s *ExportServer) CountTenant(ctx context.Context, req *privacyv1.CountTenantRequest) (*privacyv1.CountTenantResponse, error) {
	tenant, err := tenantOf(req)
	if err != nil {
		return nil, err
	}
	tables, inFlight, err := s.Count(ctx, tenant)
	return &privacyv1.CountTenantResponse{Tables: tables, InFlight: inFlight}, err
}

// ExportTenant returns a page of the rows that a tenant may see.
func (s *ExportServer) ExportTenant(
	ctx context.Context, req *privacyv1.ExportTenantRequest,
) (*privacyv1.ExportTenantResponse, error) {
	tenant, err := tenantOf(req)
	if err != nil {
		return nil, err
	}
	lines, next, err := s.Export(ctx, tenant, req.GetAfter())
	if errors.Is(err, ErrExportCursor) {
		return nil, problem.Invalid(problem.Violation{
			Field: "after", Code: problem.FieldInvalid, Message: "is not a cursor of this export",
		})
	}
	return &privacyv1.ExportTenantResponse{Lines: lines, Next: next}, err
}

// EraseTenant erases a batch of a tenant's rows.
func (s *ExportServer) EraseTenant(ctx context.Context, req *privacyv1.EraseTenantRequest) (*privacyv1.EraseTenantResponse, error) {
	tenant, err := tenantOf(req)
	if err != nil {
		return nil, err
	}
	done, err := s.Erase(ctx, tenant)
	return &privacyv1.EraseTenantResponse{Done: done}, err
}
