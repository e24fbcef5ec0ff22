package server

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/problem"
	"github.com/partnergifting/platform/pkg/tenants"
	privacyv1 "github.com/partnergifting/platform/proto/gen/gifting/privacy/v1"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
)

const (
	// minGrace is longer than any request, and than any reader of changes usually lags.
	minGrace = 24 * time.Hour
	maxGrace = 365 * 24 * time.Hour
)

// offboardings ends the use of the platform by tenants.
type offboardings struct {
	tenantsv1.UnimplementedOffboardingOperationsServiceServer
	Deps
	// grace is the grace period of requests that name none.
	grace time.Duration
}

// admit checks what all requests have. No member of a tenant's team may off-board it, so the permission needs no membership.
func (o *offboardings) admit(ctx context.Context, req operation, errs *fields.Errors) (tenantID string, err error) {
	tenantID, by := admit(ctx, req, errs)
	if err := errs.Err(); err != nil {
		return "", err
	}
	return tenantID, by.Needs.Check(by.Actor, nil)
}

// OffboardTenant disables a tenant and schedules its erasure.
func (o *offboardings) OffboardTenant(
	ctx context.Context, req *tenantsv1.OffboardTenantRequest,
) (*tenantsv1.OffboardTenantResponse, error) {
	var errs fields.Errors
	grace := o.grace
	if req.GetGracePeriod() != nil {
		grace = req.GetGracePeriod().AsDuration()
		if req.GetGracePeriod().CheckValid() != nil || grace < minGrace || grace > maxGrace {
			errs.Add("gracePeriod", problem.FieldInvalid, "must be from one day to a year")
		}
	}
	tenantID, err := o.admit(ctx, req, &errs)
	if err != nil {
		return nil, err
	}
	version, err := o.Store.Offboard(ctx, tenantID, req.GetActor(), grace)
	if err != nil {
		return nil, asProblem(err)
	}
	if version > 0 {
		if err := o.Versions.Publish(ctx, tenantID, version); err != nil {
			return nil, err
		}
	}
	stored, err := o.Store.Offboarding(ctx, tenantID)
	if err != nil { // It may have been cancelled meanwhile.
		return nil, asProblem(err)
	}
	return &tenantsv1.OffboardTenantResponse{Offboarding: stored}, nil
}

// CancelOffboarding gives a tenant its access back.
func (o *offboardings) CancelOffboarding(
	ctx context.Context, req *tenantsv1.CancelOffboardingRequest,
) (*tenantsv1.CancelOffboardingResponse, error) {
	tenantID, err := o.admit(ctx, req, &fields.Errors{})
	if err != nil {
		return nil, err
	}
	version, err := o.Store.CancelOffboarding(ctx, tenantID, req.GetActor())
	return &tenantsv1.CancelOffboardingResponse{}, o.publish(ctx, tenantID, version, err)
}

// GetOffboarding returns an off-boarding with its report.
func (o *offboardings) GetOffboarding(
	ctx context.Context, req *tenantsv1.GetOffboardingRequest,
) (*tenantsv1.GetOffboardingResponse, error) {
	tenantID, err := o.admit(ctx, req, &fields.Errors{})
	if err != nil {
		return nil, err
	}
	stored, err := o.Store.Offboarding(ctx, tenantID)
	if err != nil {
		return nil, asProblem(err)
	}
	return &tenantsv1.GetOffboardingResponse{Offboarding: stored}, nil
}

// exportPosition is where the next page of an export begins. Service 0 is this service, the next ones are Holders. After is the
// position at which the service's previous page ended.
type exportPosition struct {
	Service int    `json:"s"`
	After   string `json:"a,omitempty"`
}

// ExportTenant returns a page of what is stored of a tenant and the tenant may see.
func (o *offboardings) ExportTenant(
	ctx context.Context, req *tenantsv1.ExportTenantRequest,
) (*tenantsv1.ExportTenantResponse, error) {
	var errs fields.Errors
	var at exportPosition
	if req.GetAfter() != "" {
		text, err := base64.RawURLEncoding.DecodeString(req.GetAfter())
		if err != nil || json.Unmarshal(text, &at) != nil || at.Service < 0 || at.Service > len(o.Holders) {
			errs.Add("after", problem.FieldInvalid, "is not a cursor of this export")
		}
	}
	tenantID, err := o.admit(ctx, req, &errs)
	if err != nil {
		return nil, err
	}
	keyIDs, err := o.Store.BeginExport(ctx, tenantID, req.GetActor(), req.GetAfter() == "")
	if err != nil {
		return nil, asProblem(err)
	}
	cell, err := o.Store.CellOf(ctx, tenantID)
	if err != nil {
		return nil, err
	}
	ctx = caller.InCell(ctx, cell)
	resp := &tenantsv1.ExportTenantResponse{}
	for len(resp.GetLines()) == 0 && at.Service <= len(o.Holders) {
		name, lines, next, err := o.exportPage(ctx, tenants.Tenant{ID: tenantID, KeyIDs: keyIDs}, at)
		if errors.Is(err, tenants.ErrExportCursor) {
			return nil, invalid("after", problem.FieldInvalid, "is not a cursor of this export")
		}
		if err != nil {
			return nil, err
		}
		resp.Lines = addService(name, lines)
		if at.After = next; next == "" {
			at.Service++
		}
	}
	if at.Service <= len(o.Holders) {
		text, err := json.Marshal(at)
		if err != nil {
			return nil, fmt.Errorf("encode cursor: %w", err)
		}
		resp.NextCursor = new(base64.RawURLEncoding.EncodeToString(text))
	}
	return resp, nil
}

func (o *offboardings) exportPage(
	ctx context.Context, tenant tenants.Tenant, at exportPosition,
) (name identity.Name, lines []byte, next string, err error) {
	if at.Service == 0 {
		lines, next, err = o.Own.Export(ctx, tenant, at.After)
		return identity.Tenants, lines, next, err
	}
	h := o.Holders[at.Service-1]
	page, err := h.Data.ExportTenant(ctx, &privacyv1.ExportTenantRequest{TenantId: tenant.ID, KeyIds: tenant.KeyIDs, After: at.After})
	return h.Name, page.GetLines(), page.GetNext(), err
}

// addService adds the service to each line.
func addService(service identity.Name, lines []byte) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(lines) {
		out.WriteString(`{"service":"` + string(service) + `",`)
		out.Write(line[1:])
	}
	return out.Bytes()
}
