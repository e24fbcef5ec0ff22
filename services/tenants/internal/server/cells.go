package server

import (
	"context"
	"errors"

	"github.com/partnergifting/platform/pkg/apikey"
	"github.com/partnergifting/platform/pkg/caller"
	"github.com/partnergifting/platform/pkg/fields"
	"github.com/partnergifting/platform/pkg/identity"
	"github.com/partnergifting/platform/pkg/problem"
	tenantsv1 "github.com/partnergifting/platform/proto/gen/gifting/tenants/v1"
	"github.com/partnergifting/platform/services/tenants/internal/moves"
	"github.com/partnergifting/platform/services/tenants/internal/store"
)

// cells is the operations plane of cells and moves.
type cells struct {
	tenantsv1.UnimplementedCellOperationsServiceServer
	Deps
	Config
}

// ListCells lists the cells besides the first one for the services that connect to them.
func (d *directory) ListCells(ctx context.Context, _ *tenantsv1.ListCellsRequest) (*tenantsv1.ListCellsResponse, error) {
	found, err := d.store.OtherCells(ctx)
	return &tenantsv1.ListCellsResponse{Cells: found}, err
}

// PutCell adds a cell or replaces it. A cell is opened when it has a copy of the gifts.
func (c *cells) PutCell(ctx context.Context, req *tenantsv1.PutCellRequest) (*tenantsv1.PutCellResponse, error) {
	var errs fields.Errors
	caller.CheckActor(req.GetActor(), &errs)
	checkCell(req, &errs)
	if err := errors.Join(errs.Err(), permission(ctx).Check(req.GetActor(), nil)); err != nil {
		return nil, err
	}
	letter := req.GetCell().GetLetter()
	// A test runs several cells in a sandbox.
	if c.Environment == apikey.Sandbox && letter != identity.HomeCell && !c.LoopbackWebhooks {
		return nil, problem.New(problem.NotEditable, "The sandbox has one cell: what a tenant of it changes for itself is not copied.")
	}
	if req.GetOpen() && letter != identity.HomeCell {
		if err := asUnready(c.Moves.AwaitGifts(ctx, letter), "The cell cannot be opened"); err != nil {
			return nil, err
		}
	}
	record := &tenantsv1.CellRecord{Cell: req.GetCell(), Open: req.GetOpen(), Room: req.GetRoom()}
	if err := c.Store.PutCell(ctx, record); err != nil {
		return nil, err
	}
	record, err := c.Store.Cell(ctx, letter)
	return &tenantsv1.PutCellResponse{Record: record}, err
}

// DrainCell keeps further tenants out of a cell.
func (c *cells) DrainCell(ctx context.Context, req *tenantsv1.DrainCellRequest) (*tenantsv1.DrainCellResponse, error) {
	var errs fields.Errors
	caller.CheckActor(req.GetActor(), &errs)
	errs.Required("letter", req.GetLetter(), 1)
	if err := errors.Join(errs.Err(), permission(ctx).Check(req.GetActor(), nil)); err != nil {
		return nil, err
	}
	if err := c.Store.DrainCell(ctx, req.GetLetter()); err != nil {
		return nil, asProblem(err)
	}
	record, err := c.Store.Cell(ctx, req.GetLetter())
	return &tenantsv1.DrainCellResponse{Record: record}, err
}

func checkCell(req *tenantsv1.PutCellRequest, errs *fields.Errors) {
	cell := req.GetCell()
	if (identity.Cell{Letter: cell.GetLetter()}).Validate() != nil || cell.GetLetter() == "" {
		errs.Add("cell.letter", problem.FieldInvalid, "must be one letter from a to z")
	}
	if req.GetRoom() < 0 {
		errs.Add("room", problem.FieldInvalid, "must not be negative")
	}
	if cell.GetLetter() == identity.HomeCell {
		return
	}
	for field, addr := range map[string]string{
		"cell.catalogAddr": cell.GetCatalogAddr(), "cell.ordersAddr": cell.GetOrdersAddr(), "cell.eventsAddr": cell.GetEventsAddr(),
		"cell.personalLinksAddr": cell.GetPersonalLinksAddr(), "cell.webhookAddr": cell.GetWebhookAddr(),
	} {
		errs.Required(field, addr, maxAddr)
	}
}

// maxAddr is long enough for the addresses of many instances.
const maxAddr = 2048

// ListCellRecords lists all cells.
func (c *cells) ListCellRecords(
	ctx context.Context, req *tenantsv1.ListCellRecordsRequest,
) (*tenantsv1.ListCellRecordsResponse, error) {
	var errs fields.Errors
	caller.CheckActor(req.GetActor(), &errs)
	if err := errors.Join(errs.Err(), permission(ctx).Check(req.GetActor(), nil)); err != nil {
		return nil, err
	}
	found, err := c.Store.Cells(ctx)
	return &tenantsv1.ListCellRecordsResponse{Records: found}, err
}

// MoveTenant begins a move, unless it could not succeed.
func (c *cells) MoveTenant(ctx context.Context, req *tenantsv1.MoveTenantRequest) (*tenantsv1.MoveTenantResponse, error) {
	var errs fields.Errors
	tenantID, by := admit(ctx, req, &errs)
	errs.Required("to", req.GetTo(), 1)
	if err := errs.Err(); err != nil {
		return nil, err
	}
	move, err := c.Store.BeginMove(ctx, tenantID, req.GetTo(), by, true)
	if err != nil {
		return nil, asProblem(err)
	}
	if err := asUnready(c.Moves.Check(ctx, move), "The move cannot begin"); err != nil {
		return nil, err
	}
	if req.GetDryRun() {
		return &tenantsv1.MoveTenantResponse{Move: &tenantsv1.TenantMove{TenantId: tenantID, From: move.From, To: move.To}}, nil
	}
	if _, err := c.Store.BeginMove(ctx, tenantID, req.GetTo(), by, false); err != nil {
		return nil, asProblem(err)
	}
	begun, err := c.Store.Move(ctx, tenantID)
	return &tenantsv1.MoveTenantResponse{Move: begun}, err
}

// asUnready makes an answer of what is not ready yet.
func asUnready(err error, what string) error {
	if unready, ok := errors.AsType[*moves.UnreadyError](err); ok {
		return problem.New(problem.NotEditable, "%s: %s.", what, unready.Reason)
	}
	return err
}

// GetTenantMove returns the newest move of a tenant.
func (c *cells) GetTenantMove(ctx context.Context, req *tenantsv1.GetTenantMoveRequest) (*tenantsv1.GetTenantMoveResponse, error) {
	tenantID, err := c.permit(ctx, req)
	if err != nil {
		return nil, err
	}
	found, err := c.Store.Move(ctx, tenantID)
	if err != nil {
		return nil, asProblem(err)
	}
	return &tenantsv1.GetTenantMoveResponse{Move: found}, nil
}

// CancelTenantMove ends a move before its switch.
func (c *cells) CancelTenantMove(
	ctx context.Context, req *tenantsv1.CancelTenantMoveRequest,
) (*tenantsv1.CancelTenantMoveResponse, error) {
	tenantID, err := c.permit(ctx, req)
	if err != nil {
		return nil, err
	}
	version, err := c.Store.CancelMove(ctx, tenantID, store.Authorization{Actor: req.GetActor(), Needs: permission(ctx)})
	if err := c.publish(ctx, tenantID, version, err); err != nil {
		return nil, err
	}
	found, err := c.Store.Move(ctx, tenantID)
	if err != nil {
		return nil, asProblem(err)
	}
	return &tenantsv1.CancelTenantMoveResponse{Move: found}, nil
}

// permit checks a request about the move of a tenant.
func (c *cells) permit(ctx context.Context, req operation) (tenantID string, err error) {
	var errs fields.Errors
	tenantID, by := admit(ctx, req, &errs)
	if err := errs.Err(); err != nil {
		return "", err
	}
	if err := c.Store.Permit(ctx, tenantID, by); err != nil {
		return "", asProblem(err)
	}
	return tenantID, nil
}
